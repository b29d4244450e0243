#include "delivery.h"

#include <string.h>

#include "export/upload/retry.h"
#include "pyroscope.h"

#define DELIVERY_DOWN_NS (20 * SP_NS_PER_S)

static void counts_add(uint64_t samples, uint64_t ticks, sp_outcome outcome) {
  if (outcome == SP_OUTCOME_EXPORTED) {
    sp_count(&sp_counts.samples_exported, samples);
    sp_count(&sp_counts.ticks_exported, ticks);
    return;
  }
  sp_count(outcome == SP_OUTCOME_DROPPED_STOP
               ? &sp_counts.samples_dropped_stop
               : &sp_counts.samples_dropped_export,
           samples);
  sp_count(&sp_counts.ticks_dropped, ticks);
}

void sp_delivery_count(const sp_upload *upload, sp_outcome outcome) {
  if (outcome != SP_OUTCOME_EXPORTED)
    sp_count(&sp_counts.profiles_dropped, 1);
  counts_add(upload->part.samples, upload->part.ticks,
             upload->delivered ? SP_OUTCOME_EXPORTED : outcome);
}

static void entry_count(const sp_spool_entry *entry, sp_outcome outcome) {
  if (outcome != SP_OUTCOME_EXPORTED)
    sp_count(&sp_counts.profiles_dropped, 1);
  if (entry->own)
    counts_add(entry->samples, entry->ticks,
               entry->delivered ? SP_OUTCOME_EXPORTED : outcome);
}

static void delivery_on_dropped(void *data, const sp_spool_entry *entry,
                                const char *why) {
  sp_delivery *delivery = data;

  entry_count(entry, SP_OUTCOME_DROPPED_EXPORT);
  sp_log_warn(delivery->log, SP_LOG_SPOOL,
              "a profile in spool_directory was dropped: %s", why);
}

static void delivery_spooled_exported(void *data, const sp_spool_entry *entry) {
  (void)data;
  entry_count(entry, SP_OUTCOME_EXPORTED);
}

void sp_delivery_count_spooled(const sp_delivery *delivery) {
  if (delivery->spool)
    sp_spool_each_own(delivery->spool, delivery_spooled_exported, NULL);
}

bool sp_delivery_uploads(const sp_delivery *delivery) {
  return delivery->settings->server_address != NULL;
}

spanprof_status sp_delivery_init(sp_delivery *out, const sp_mem *mem,
                                 const sp_settings *settings,
                                 const sp_clock *clock, sp_log *log) {
  spanprof_status st;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  out->settings = settings;
  out->clock = clock;
  out->log = log;
  if (settings->server_address)
    out->down_until_ns = sp_pages_share(sizeof *out->down_until_ns);
  if (!out->down_until_ns)
    out->down_until_ns = &out->down_private;
  st = sp_series_init(&out->series, mem, settings, NULL);
  if (!st && settings->output_directory)
    st = sp_profile_files_new(&out->files, mem, settings, clock, log);
  if (!st && settings->server_address)
    st = sp_http_client_new(&out->client, mem, settings, clock);
  if (!st && settings->server_address && settings->spool_directory)
    st = sp_spool_new(&out->spool, mem, settings, clock, delivery_on_dropped,
                      out);
  if (st)
    sp_delivery_dispose(out);
  return st;
}

void sp_delivery_dispose(sp_delivery *delivery) {
  sp_http_client_free(delivery->client);
  sp_spool_free(delivery->spool);
  sp_profile_files_free(delivery->files);
  sp_series_dispose(&delivery->series);
  if (delivery->down_until_ns != &delivery->down_private)
    sp_pages_free(delivery->down_until_ns, sizeof *delivery->down_until_ns);
  delivery->down_until_ns = NULL;
  delivery->client = NULL;
  delivery->spool = NULL;
  delivery->files = NULL;
}

bool sp_delivery_needs_client(const sp_delivery *delivery) {
  return sp_delivery_uploads(delivery) && !delivery->client;
}

sp_http_client *sp_delivery_client_new(const sp_delivery *delivery) {
  sp_http_client *client;

  if (sp_http_client_new(&client, delivery->mem, delivery->settings,
                         delivery->clock))
    sp_log_warn(delivery->log, SP_LOG_UPLOAD_FAILED,
                "uploads cannot start yet: %s", spanprof_last_error());
  return client;
}

void sp_delivery_call_back(sp_delivery *delivery, sp_upload *upload) {
  spanprof_profile view = {.struct_size = sizeof view,
                           .bytes = upload->part.bytes,
                           .size_bytes = upload->part.size,
                           .time_ns = upload->part.time_ns,
                           .duration_ns = upload->part.duration_ns,
                           .samples = upload->part.samples,
                           .cpu_ns = upload->part.cpu_ns};

  if (!delivery->settings->on_profile)
    return;
  delivery->settings->on_profile(delivery->settings->on_profile_data, &view);
  upload->delivered = true;
}

void sp_delivery_write(sp_delivery *delivery, sp_upload *upload) {
  size_t bytes;

  upload->local_tried = true;
  if (!delivery->files)
    return;
  if (sp_profile_files_put(delivery->files, &upload->part, &delivery->series,
                           &bytes)) {
    sp_log_warn(delivery->log, SP_LOG_OUTPUT,
                "a profile was not written to output_directory: %s",
                spanprof_last_error());
    return;
  }
  sp_count(&sp_counts.profiles_written, 1);
  sp_count(&sp_counts.bytes_written, bytes);
  upload->delivered = true;
}

static void delivery_accepted(sp_delivery *delivery, size_t bytes) {
  sp_count(&sp_counts.profiles_sent, 1);
  sp_count(&sp_counts.bytes_sent, bytes);
  if (!delivery->accepted)
    sp_log_line(delivery->log, SPANPROF_LOG_INFO,
                "first profile accepted by %s (%zu bytes)",
                delivery->settings->server_address, bytes);
  else if (delivery->failures)
    sp_log_line(delivery->log, SPANPROF_LOG_INFO,
                "uploads to %s work again after %u failures",
                delivery->settings->server_address, delivery->failures);
  delivery->accepted = true;
}

void sp_delivery_mark_down(sp_delivery *delivery, uint64_t now_ns) {
  atomic_store(delivery->down_until_ns, now_ns + DELIVERY_DOWN_NS);
}

/* Log the server's answer, or that there was no answer, and what happens to the
 * profile. */
static void delivery_log_failure(const sp_delivery *delivery,
                                 const sp_http_answer *answer,
                                 const sp_retry *retry) {
  static const char *const ends[] = {
      [SP_RETRY_AGAIN] = "it will be sent again",
      [SP_RETRY_REFUSED] = "the profile is dropped",
      [SP_RETRY_EXHAUSTED] = "the profile is dropped after several tries",
      [SP_RETRY_EXPIRED] = "the profile is dropped: it is too old",
  };
  const char *address = delivery->settings->server_address;
  const char *end = ends[retry->verdict];
  sp_log_kind kind =
      retry->is_limited ? SP_LOG_UPLOAD_LIMITED
      : retry->verdict == SP_RETRY_REFUSED || retry->is_repairable
          ? SP_LOG_UPLOAD_REFUSED
          : SP_LOG_UPLOAD_FAILED;

  if (retry->is_repairable && retry->verdict == SP_RETRY_AGAIN)
    end = "profiles are kept, and sent again about once a minute";
  if (answer->not_pyroscope)
    sp_log_warn(
        delivery->log, kind,
        "%s answered %ld, but is not Pyroscope (a login page, or another "
        "program): check the server address; %s",
        address, answer->status, end);
  else if (answer->status >= 300 && answer->status < 400)
    sp_log_warn(delivery->log, kind,
                "%s answered %ld, a redirect, which is not followed: use the "
                "final address; %s",
                address, answer->status, end);
  else if (answer->status)
    sp_log_warn(delivery->log, kind, "%s answered %ld%s%s; %s", address,
                answer->status, answer->message[0] ? ": " : "", answer->message,
                end);
  else
    sp_log_warn(delivery->log, kind, "the upload to %s failed: %s; %s", address,
                answer->message, end);
}

/* Decide from the answer whether the profile is sent again, and set the
 * backoff. */
static void delivery_decide(sp_delivery *delivery, const sp_http_answer *answer,
                            uint64_t max_age_ns, sp_tries *tries,
                            sp_retry *retry) {
  uint64_t now_ns = sp_clock_monotonic_ns(delivery->clock);
  sp_retry_case retry_case = {
      .status = answer->status,
      .not_pyroscope = answer->not_pyroscope,
      .failures = delivery->failures + 1,
      .refusals = tries->refusals,
      .retry_after_given = answer->retry_after_given,
      .retry_after_ns = answer->retry_after_ns,
      .age_ns = now_ns - tries->began_ns,
      .max_age_ns = max_age_ns,
      .now_ns = now_ns,
      .random = sp_retry_random(),
  };

  sp_retry_decide(retry, &retry_case);
  delivery->backoff_until_ns = retry->at_ns;
  delivery->backoff_ordered = retry->is_ordered;
  delivery->repairable = retry->is_repairable;
  if (retry->own_fault) {
    tries->refusals++;
    tries->retry_ns = retry->at_ns;
  }
  if (retry->verdict != SP_RETRY_ACCEPTED)
    delivery_log_failure(delivery, answer, retry);
  atomic_store(delivery->down_until_ns, 0);
  if (retry->at_ns > now_ns && !retry->own_fault)
    sp_delivery_mark_down(delivery, now_ns);
  /* A server that refuses a profile is not down, so this is not a failure. */
  if (retry->verdict == SP_RETRY_REFUSED)
    delivery->failures = 0;
  else if (retry->verdict != SP_RETRY_ACCEPTED)
    delivery->failures++;
}

static sp_outcome delivery_outcome(const sp_retry *retry) {
  return retry->verdict == SP_RETRY_ACCEPTED ? SP_OUTCOME_EXPORTED
                                             : SP_OUTCOME_DROPPED_EXPORT;
}

static void delivery_check_links(const sp_delivery *delivery,
                                 const sp_http_answer *answer) {
  if (answer->links && delivery->links_open)
    delivery->links_open();
}

void sp_delivery_query_links(sp_delivery *delivery) {
  const char *address = delivery->settings->server_address;
  sp_http_answer answer;
  sp_buffer url;

  if (!delivery->client)
    return;
  sp_buffer_init(&url, delivery->mem);
  sp_buffer_format(&url, "%s/ready", address);
  if (!sp_buffer_status(&url)) {
    sp_http_client_get(delivery->client, url.data, &answer);
    delivery_check_links(delivery, &answer);
    if (!answer.aborted && !answer.status)
      sp_delivery_mark_down(delivery, sp_clock_monotonic_ns(delivery->clock));
    if (!answer.aborted)
      sp_log_line(delivery->log, SPANPROF_LOG_DEBUG, "%s %s (GET /ready: %ld)",
                  address,
                  answer.links ? "opens links to spans"
                               : "does not open links to spans",
                  answer.status);
  }
  sp_buffer_dispose(&url);
}

/* Send the request for a profile. If there is no memory for the request,
 * returns false, and this counts as a failed request. */
static bool delivery_post(sp_delivery *delivery, const sp_series *series,
                          const sp_encoded *part, sp_http_answer *answer,
                          size_t *bytes) {
  sp_pyroscope_request request;

  *bytes = 0;
  if (!delivery->client)
    return false;
  if (sp_pyroscope_request_init(&request, delivery->mem, delivery->settings,
                                series, part))
    return false;
  *bytes = request.http.size;
  sp_http_client_post(delivery->client, &request.http, answer);
  delivery_check_links(delivery, answer);
  sp_pyroscope_request_dispose(&request);
  return true;
}

/* Send a profile and decide whether it is sent again. Returns false if the
 * request was aborted. */
static bool delivery_try(sp_delivery *delivery, const sp_series *series,
                         const sp_encoded *part, uint64_t max_age_ns,
                         sp_tries *tries, sp_retry *retry) {
  sp_http_answer answer;
  size_t bytes;

  if (!delivery_post(delivery, series, part, &answer, &bytes)) {
    memset(&answer, 0, sizeof answer);
    memcpy(answer.message, "out of memory", sizeof "out of memory");
  }
  if (answer.aborted)
    return false;
  if (tries->attempted)
    sp_count(&sp_counts.profiles_retried, 1);
  tries->attempted = true;
  delivery_decide(delivery, &answer, max_age_ns, tries, retry);
  if (retry->verdict == SP_RETRY_ACCEPTED) {
    delivery_accepted(delivery, bytes);
    delivery->failures = 0;
  }
  return true;
}

bool sp_delivery_backoff_over(const sp_delivery *delivery) {
  return sp_clock_monotonic_ns(delivery->clock) >= delivery->backoff_until_ns;
}

bool sp_delivery_send(sp_delivery *delivery, sp_upload *upload,
                      sp_outcome *outcome) {
  sp_retry retry;

  *outcome = SP_OUTCOME_DROPPED_EXPORT;
  if (!delivery_try(delivery, &delivery->series, &upload->part,
                    SP_RETRY_MAX_AGE_S * SP_NS_PER_S, &upload->tries, &retry) ||
      retry.verdict == SP_RETRY_AGAIN)
    return false;
  *outcome = delivery_outcome(&retry);
  return true;
}

bool sp_delivery_fetch_spooled(sp_delivery *delivery, sp_spooled *out) {
  uint64_t now_ns = sp_clock_monotonic_ns(delivery->clock);
  spanprof_status st;

  memset(out, 0, sizeof *out);
  if (delivery->spool)
    out->entry = sp_spool_next(delivery->spool, now_ns);
  if (!out->entry)
    return false;
  out->tries = out->entry->tries;
  st = sp_spool_read(delivery->spool, out->entry, &out->file);
  if (st && st != SPANPROF_ERR_FORMAT)
    out->entry->tries.retry_ns = now_ns + SP_NS_PER_S;
  return !st;
}

void sp_delivery_send_spooled(sp_delivery *delivery, sp_spooled *spooled) {
  uint64_t max_age_ns = sp_min_u64(delivery->settings->spool_max_age_s,
                                   UINT64_MAX / SP_NS_PER_S) *
                        SP_NS_PER_S;
  sp_retry retry;

  spooled->over =
      delivery_try(delivery, &spooled->file.series, &spooled->file.part,
                   max_age_ns, &spooled->tries, &retry) &&
      retry.verdict != SP_RETRY_AGAIN;
  if (spooled->over)
    spooled->outcome = delivery_outcome(&retry);
}

void sp_delivery_finish_spooled(sp_delivery *delivery,
                                const sp_spooled *spooled) {
  spooled->entry->tries = spooled->tries;
  if (!spooled->over)
    return;
  entry_count(spooled->entry, spooled->outcome);
  sp_spool_remove(delivery->spool, spooled->entry);
}

/* Log `what`, which failed at the spool, and why. If no file in the spool can
 * be locked, the spool is off, and this is logged once. */
static void delivery_log_spool(sp_delivery *delivery, const char *what,
                               spanprof_status st) {
  const char *why = st == SPANPROF_ERR_IO || st == SPANPROF_ERR_SYSTEM
                        ? spanprof_last_error()
                        : spanprof_status_text(st);

  if (st != SPANPROF_ERR_SYSTEM) {
    sp_log_warn(delivery->log, SP_LOG_SPOOL, "%s: %s", what, why);
    return;
  }
  if (!delivery->spool_off_logged)
    sp_log_line(delivery->log, SPANPROF_LOG_WARN,
                "spool_directory cannot be used, so profiles that cannot be "
                "sent are dropped: %s",
                why);
  delivery->spool_off_logged = true;
}

void sp_delivery_claim(sp_delivery *delivery) {
  spanprof_status st =
      delivery->spool ? sp_spool_claim(delivery->spool) : SPANPROF_OK;

  if (st)
    delivery_log_spool(delivery,
                       "some profiles in spool_directory were not read", st);
}

bool sp_delivery_spool(sp_delivery *delivery, const sp_upload *upload) {
  spanprof_status st;

  if (!delivery->spool)
    return false;
  /* This also measures the files of other processes, which the size limit
   * includes. */
  sp_delivery_claim(delivery);
  st = sp_spool_put(delivery->spool, upload, &delivery->series);
  if (!st) {
    sp_count(&sp_counts.profiles_spooled, 1);
    return true;
  }
  delivery_log_spool(delivery, "a profile was not stored in spool_directory",
                     st);
  return false;
}

uint64_t sp_delivery_next_ns(const sp_delivery *delivery) {
  uint64_t next_ns;

  if (!delivery->spool)
    return UINT64_MAX;
  next_ns = sp_spool_next_ns(delivery->spool);
  if (next_ns != UINT64_MAX)
    next_ns = sp_max_u64(next_ns, delivery->backoff_until_ns);
  return sp_min_u64(next_ns, sp_spool_claim_ns(delivery->spool));
}

void sp_delivery_after_fork_child(sp_delivery *delivery) {
  if (delivery->client)
    sp_http_client_abandon(delivery->client);
  delivery->client = NULL;
  if (delivery->spool)
    sp_spool_after_fork_child(delivery->spool);
  delivery->failures = 0;
  delivery->backoff_until_ns = atomic_load(delivery->down_until_ns);
  delivery->backoff_ordered = true;
  delivery->repairable = false;
  delivery->accepted = false;
}
