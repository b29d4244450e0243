#include "batch.h"

#include "build.h"
#include "raw_check.h"
#include "server/store/store.h"
#include "util/system/status.h"

/* Pyroscope's default rate limit, as its error message shows it. */
#define BATCH_RATE "4.0 MiB"

sp_raw_window sp_batch_window(const sp_serve *serve) {
  const sp_serve_options *options = serve->options;
  const int64_t now = (int64_t)sp_clock_unix_ns(serve->clock);

  return (sp_raw_window){.now_ns = now,
                         .from_ns = options->window_past_ns < 0
                                        ? INT64_MIN
                                        : now - options->window_past_ns,
                         .until_ns = options->window_future_ns < 0
                                         ? INT64_MAX
                                         : now + options->window_future_ns};
}

void sp_batch_init(sp_batch *batch, sp_upload *upload) {
  *batch = (sp_batch){.upload = upload, .serve = upload->serve};
}

void sp_batch_dispose(sp_batch *batch) {
  size_t i;

  for (i = 0; i < batch->count; i++)
    sp_received_free(batch->profiles[i]);
  sp_mem_free(&batch->upload->mem, batch->profiles);
  sp_batch_init(batch, batch->upload);
}

/* Check the approximate size that the profile has in protobuf with its
 * labels. */
static spanprof_status batch_check_size(const sp_limits *limits,
                                        const sp_raw_profile *profile,
                                        const sp_series_labels *labels,
                                        sp_refusal *refusal) {
  size_t size = profile->bytes, i;

  for (i = 0; i < labels->count; i++)
    size += labels->labels[i].name.size + labels->labels[i].value.size;
  if (size <= limits->pushed_bytes)
    return SPANPROF_OK;
  return sp_refuse(refusal, SP_REFUSAL_RATE,
                   "push rate limit (" BATCH_RATE
                   ") exceeded while adding %.1f MiB",
                   (double)size / (double)((size_t)1 << 20));
}

static spanprof_status batch_add_received(sp_batch *batch, sp_received *profile,
                                          size_t bytes) {
  spanprof_status st;

  if (!profile)
    return SPANPROF_OK;
  st = sp_mem_reserve(&batch->upload->mem, (void **)&batch->profiles,
                      &batch->capacity, batch->count + 1, sizeof profile);
  if (st) {
    sp_received_free(profile);
    return st;
  }
  batch->profiles[batch->count++] = profile;
  batch->samples += profile->sample_count;
  batch->bytes += bytes;
  batch->waiting_bytes += profile->table_bytes + profile->arena.bytes;
  return SPANPROF_OK;
}

static void batch_negative_values(const sp_batch *batch, size_t count,
                                  const sp_series_labels *labels) {
  const sp_view service =
      sp_series_labels_get(labels, sp_view_text("service_name"));

  if (!count)
    return;
  sp_count(&batch->serve->counters.discarded_values, count);
  sp_log_warn(batch->serve->log, SP_LOG_SAMPLES,
              "%zu negative values in a profile of %.*s are ignored", count,
              (int)sp_min_u64(service.size, 200), service.bytes);
}

static spanprof_status batch_check(sp_batch *batch, sp_raw_profile *profile,
                                   sp_series_labels *labels,
                                   sp_refusal *refusal) {
  const sp_limits *limits = batch->serve->options->limits;
  const sp_raw_window window = sp_batch_window(batch->serve);
  const sp_view service = sp_view_text("service_name");
  spanprof_status st = SPANPROF_OK;

  if (!sp_series_labels_get(labels, service).size)
    st = sp_series_labels_add(labels, service,
                              sp_view_text(SP_SERIES_UNKNOWN_SERVICE));
  sp_series_labels_sort(labels);
  if (!st)
    st = batch_check_size(limits, profile, labels, refusal);
  if (!st)
    st = sp_raw_check(profile, &window, limits, labels, refusal);
  if (!st)
    sp_series_labels_drop(labels);
  return st;
}

/* Store a part of a large profile before the next part is built. */
static spanprof_status batch_put_part(sp_batch *batch, sp_refusal *refusal) {
  spanprof_status st;

  if (batch->is_one)
    return sp_refuse(refusal, SP_REFUSAL_LARGE,
                     "the profile takes more than %zu MiB of memory",
                     batch->serve->options->limits->part_bytes >> 20);
  sp_upload_leave(batch->upload);
  st = sp_batch_put(batch, refusal);
  sp_batch_dispose(batch);
  sp_upload_enter(batch->upload);
  return st;
}

static spanprof_status batch_build(sp_batch *batch,
                                   const sp_raw_profile *profile,
                                   const sp_series_labels *labels,
                                   size_t *negative, sp_refusal *refusal) {
  const sp_limits *limits = batch->serve->options->limits;
  size_t next = 0, bytes = profile->bytes;
  sp_received *received;
  spanprof_status st;

  for (;;) {
    st = sp_build(&received, profile, labels, limits, &next, negative, refusal);
    if (!st)
      st = batch_add_received(batch, received, bytes);
    if (st || next >= profile->sample_count)
      return st;
    bytes = 0;
    st = batch_put_part(batch, refusal);
    if (st)
      return st;
  }
}

spanprof_status sp_batch_add(sp_batch *batch, sp_raw_profile *profile,
                             sp_series_labels *labels, sp_refusal *refusal) {
  spanprof_status st = batch_check(batch, profile, labels, refusal);
  size_t negative = 0;

  if (!st)
    st = batch_build(batch, profile, labels, &negative, refusal);
  if (!st) {
    batch_negative_values(batch, negative, labels);
    return SPANPROF_OK;
  }
  sp_count(&batch->serve->counters.discarded_profiles, 1);
  sp_count(&batch->serve->counters.discarded_bytes, profile->bytes);
  return st;
}

/* Store the profiles, and report each new one to `on_stored`. */
static spanprof_status batch_store(const sp_batch *batch) {
  const sp_serve *serve = batch->serve;
  bool *repeated = NULL;
  spanprof_status st;
  size_t i;

  if (serve->on_stored) {
    repeated = sp_mem_zero(serve->mem, batch->count * sizeof *repeated);
    if (!repeated)
      return sp_fail(SPANPROF_ERR_NOMEM,
                     "the server has no memory to store profiles");
  }
  st = sp_store_put(serve->store, (const sp_received *const *)batch->profiles,
                    batch->count, repeated);
  for (i = 0; !st && repeated && i < batch->count; i++)
    if (!repeated[i])
      serve->on_stored(serve->on_stored_data, batch->profiles[i]);
  sp_mem_free(serve->mem, repeated);
  return st;
}

spanprof_status sp_batch_put(sp_batch *batch, sp_refusal *refusal) {
  sp_serve_counters *counters = &batch->serve->counters;
  spanprof_status st;

  if (!batch->count)
    return SPANPROF_OK;
  sp_upload_release_if_small(batch->upload);
  st = batch_store(batch);
  if (!st) {
    sp_count(&counters->profiles, batch->count);
    sp_count(&counters->samples, batch->samples);
    sp_count(&counters->decompressed_bytes, batch->bytes);
    return SPANPROF_OK;
  }
  /* This refusal replaces others, because the sender has to send the upload
   * again. */
  refusal->kind = SP_REFUSAL_NONE;
  sp_buffer_clear(&refusal->text);
  return sp_refuse(refusal, SP_REFUSAL_STORE, "%s", spanprof_last_error());
}

spanprof_status sp_batch_put_if_large(sp_batch *batch, sp_refusal *refusal) {
  spanprof_status st;

  if (batch->waiting_bytes < SP_BATCH_WAITING_MAX)
    return SPANPROF_OK;
  st = sp_batch_put(batch, refusal);
  sp_batch_dispose(batch);
  return st;
}
