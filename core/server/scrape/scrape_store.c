#include "scrape_store.h"

#include "server/receive/ingest/sample_config.h"
#include "server/receive/profile/batch.h"

static bool store_has_type(const sp_raw_profile *profile, const char *type) {
  size_t i;

  for (i = 0; i < profile->type_count; i++)
    if (sp_view_is(sp_raw_text(profile, profile->types[i].type), type))
      return true;
  return false;
}

static spanprof_status store_check_kind(const sp_raw_profile *profile,
                                        const sp_scrape_kind *kind,
                                        sp_refusal *refusal) {
  sp_view first;
  size_t i;

  if (!kind->types[0] || !profile->type_count)
    return SPANPROF_OK; /* the kind accepts any type, or the profile has no
                         * types, for which it is refused later */
  for (i = 0; i < SP_COUNT_OF(kind->types) && kind->types[i]; i++)
    if (store_has_type(profile, kind->types[i]))
      return SPANPROF_OK;
  first = sp_raw_text(profile, profile->types[0].type);
  return sp_refuse(
      refusal, SP_REFUSAL_INVALID,
      "it is not a profile of the kind %s: its first sample type is %.*s",
      kind->name, (int)sp_min_u64(first.size, 40), first.bytes);
}

static spanprof_status store_labels(const sp_scrape_probe *probe,
                                    const sp_raw_profile *profile,
                                    sp_series_labels *labels) {
  const sp_view metric = probe->kind.metric
                             ? sp_view_text(probe->kind.metric)
                             : sp_sample_config_metric(NULL, profile);
  spanprof_status st =
      sp_series_labels_add(labels, sp_view_text("__name__"), metric);
  size_t i;

  for (i = 0; !st && i < probe->label_count; i++)
    st = sp_series_labels_add(labels, sp_view_text(probe->labels[i].name),
                              sp_view_text(probe->labels[i].value));
  return st;
}

/* Replace cumulative values by their increases. A profile without samples is
 * removed from the batch. */
static spanprof_status store_subtract(sp_batch *batch, sp_scrape_delta *delta,
                                      uint64_t now_ns) {
  sp_received *profile;
  spanprof_status st;

  if (!batch->count)
    return SPANPROF_OK;
  profile = batch->profiles[0];
  batch->samples -= profile->sample_count;
  st = sp_scrape_delta_apply(delta, profile, now_ns);
  batch->samples += profile->sample_count;
  if (!profile->sample_count) {
    sp_received_free(profile);
    batch->count = 0;
  }
  return st;
}

static spanprof_status store_read(sp_batch *batch, const sp_scrape_probe *probe,
                                  sp_arena *arena, sp_view bytes,
                                  sp_refusal *refusal) {
  sp_series_labels labels;
  sp_raw_profile profile;
  spanprof_status st = sp_raw_read(&profile, arena, bytes, refusal);

  sp_series_labels_init(&labels, arena->mem);
  if (!st)
    st = store_check_kind(&profile, &probe->kind, refusal);
  if (!st)
    st = store_labels(probe, &profile, &labels);
  if (!st)
    st = sp_batch_add(batch, &profile, &labels, refusal);
  sp_series_labels_dispose(&labels);
  return st;
}

spanprof_status sp_scrape_store(sp_serve *serve, const sp_scrape_probe *probe,
                                sp_scrape_delta *delta, sp_view answer,
                                uint64_t now_ns, sp_refusal *refusal) {
  sp_buffer unpacked;
  sp_upload upload;
  sp_arena arena;
  sp_batch batch;
  spanprof_status st;
  sp_view bytes;
  bool large;

  sp_upload_begin(&upload, serve);
  sp_buffer_init(&unpacked, &upload.mem);
  sp_arena_init(&arena, &upload.mem, SIZE_MAX);
  sp_batch_init(&batch, &upload);
  sp_upload_enter(&upload);
  batch.is_one = true;
  st = sp_raw_unpack(answer, &unpacked, serve->options->limits->profile_bytes,
                     &bytes, &large, refusal);
  if (!st && large)
    st = sp_refuse(refusal, SP_REFUSAL_LARGE,
                   "the decompressed profile is larger than %zu MiB",
                   serve->options->limits->profile_bytes >> 20);
  if (!st)
    st = store_read(&batch, probe, &arena, bytes, refusal);
  if (!st)
    st = store_subtract(&batch, delta, now_ns);
  sp_upload_leave(&upload);
  if (!st)
    st = sp_batch_put(&batch, refusal);
  st = sp_upload_explain(&upload, refusal, st);
  if (!st) {
    sp_scrape_delta_commit(delta);
    sp_count(&serve->counters.compressed_bytes, answer.size);
  }
  sp_batch_dispose(&batch);
  sp_arena_dispose(&arena);
  sp_buffer_dispose(&unpacked);
  sp_upload_end(&upload);
  return st;
}
