#include "uploader.h"

#include "export/upload/retry.h"
#include "util/system/counters.h"
#include "util/system/own_thread.h"

#define UPLOADER_MAX_AGE_NS (SP_RETRY_MAX_AGE_S * SP_NS_PER_S)

/* At a stop, an upload may fail through its own fault, so the next one is still
 * sent. After this number of such failures, the stop sends no further uploads.
 */
#define UPLOADER_LAST_REFUSALS 3

/* Release the lock before work without it. Stores `place`, which says where the
 * thread works. */
static void uploader_unlock(sp_exporter *exporter, sp_exporter_place place) {
  exporter->place = place;
  if (place == SP_EXPORTER_IN_HTTP)
    exporter->http_since_ns = sp_clock_monotonic_ns(exporter->clock);
  pthread_mutex_unlock(&exporter->lock);
}

/* Acquire the lock after work without it. Returns false if the exporter was
 * abandoned during that work; the caller must not touch the exporter. Does not
 * return if the process is exiting and no longer waits for this thread. */
static bool uploader_lock(sp_exporter *exporter) {
  sp_own_thread_gate();
  pthread_mutex_lock(&exporter->lock);
  exporter->place = SP_EXPORTER_IDLE;
  return !exporter->abandoned;
}

void sp_uploader_copy_backoff(sp_exporter *exporter) {
  exporter->backoff_until_ns = exporter->delivery.backoff_until_ns;
  exporter->backoff_ordered = exporter->delivery.backoff_ordered;
}

/* Does the delivery to the callback and the output directory wait for the name
 * of the service? */
static bool uploader_awaits_name(const sp_exporter *exporter) {
  return !exporter->flushing && !exporter->stopping &&
         sp_service_name_is_awaited(&exporter->service, exporter->queue.bytes);
}

/* Apply changes of the service's name, and create the HTTP client if it is
 * missing. Returns false if the exporter was abandoned, like uploader_lock().
 */
static bool uploader_update(sp_exporter *exporter) {
  sp_service_news news;
  sp_http_client *client;

  sp_service_name_update_series(&exporter->service, &exporter->delivery.series);
  if (exporter->service.renamed && exporter->delivery.files)
    sp_profile_files_name(exporter->delivery.files,
                          sp_service_name_text(&exporter->service));
  if (sp_service_name_fetch_news(&exporter->service, &news)) {
    uploader_unlock(exporter, SP_EXPORTER_IDLE);
    sp_service_news_log(&news, exporter->mem, exporter->log);
    if (!uploader_lock(exporter))
      return false;
  }
  if (!sp_delivery_needs_client(&exporter->delivery))
    return true;
  uploader_unlock(exporter, SP_EXPORTER_IN_HTTP);
  client = sp_delivery_client_new(&exporter->delivery);
  if (!uploader_lock(exporter)) {
    sp_http_client_free(client);
    return false;
  }
  exporter->delivery.client = client;
  if (client && exporter->stopping)
    sp_http_client_limit(client, exporter->send_until_ns);
  return true;
}

static void in_flight_end(sp_exporter *exporter, bool finished) {
  sp_upload *upload = exporter->in_flight;

  exporter->in_flight = NULL;
  if (finished)
    sp_upload_free(exporter->mem, upload);
  else
    sp_upload_queue_return(&exporter->queue, upload);
}

static void in_flight_count(sp_exporter *exporter, sp_outcome outcome) {
  sp_delivery_count(exporter->in_flight, outcome);
  in_flight_end(exporter, true);
}

/* Pass the upload in flight to the callback and the output directory. This
 * function and the next three return false if the exporter was abandoned, like
 * uploader_lock(). */
static bool uploader_deliver_local(sp_exporter *exporter) {
  sp_upload *upload = exporter->in_flight;

  uploader_unlock(exporter, SP_EXPORTER_IN_CALLBACK);
  sp_delivery_call_back(&exporter->delivery, upload);
  if (!uploader_lock(exporter))
    return false;
  uploader_unlock(exporter, SP_EXPORTER_IN_DISK);
  sp_delivery_write(&exporter->delivery, upload);
  if (!uploader_lock(exporter))
    return false;
  if (sp_delivery_uploads(&exporter->delivery))
    in_flight_end(exporter, false);
  else
    in_flight_count(exporter, upload->delivered ? SP_OUTCOME_EXPORTED
                                                : SP_OUTCOME_DROPPED_EXPORT);
  return true;
}

/* Move the upload in flight to the spool. If the spool has no space, count the
 * upload as *otherwise, or return it to the queue if `otherwise` is NULL. */
static bool uploader_deliver_spool(sp_exporter *exporter,
                                   const sp_outcome *otherwise) {
  bool spooled;

  uploader_unlock(exporter, SP_EXPORTER_IN_DISK);
  spooled = sp_delivery_spool(&exporter->delivery, exporter->in_flight);
  if (!uploader_lock(exporter))
    return false;
  exporter->in_flight->spool_refused = !spooled;
  if (!spooled && otherwise)
    in_flight_count(exporter, *otherwise);
  else
    in_flight_end(exporter, spooled);
  return true;
}

/* Send the upload in flight to the server. If *finished is false, the upload
 * must be sent again and stays in flight. */
static bool uploader_deliver_server(sp_exporter *exporter, bool *finished) {
  sp_outcome outcome;

  uploader_unlock(exporter, SP_EXPORTER_IN_HTTP);
  *finished =
      sp_delivery_send(&exporter->delivery, exporter->in_flight, &outcome);
  if (!uploader_lock(exporter))
    return false;
  sp_uploader_copy_backoff(exporter);
  if (*finished)
    in_flight_count(exporter, outcome);
  return true;
}

static bool uploader_send_spooled(sp_exporter *exporter, sp_spooled *spooled) {
  uploader_unlock(exporter, SP_EXPORTER_IN_HTTP);
  sp_delivery_send_spooled(&exporter->delivery, spooled);
  if (!uploader_lock(exporter))
    return false;
  sp_uploader_copy_backoff(exporter);
  uploader_unlock(exporter, SP_EXPORTER_IN_DISK);
  sp_delivery_finish_spooled(&exporter->delivery, spooled);
  return uploader_lock(exporter);
}

static bool uploader_visit_spool(sp_exporter *exporter, bool send,
                                 bool *worked) {
  sp_spooled spooled = {0};
  bool valid;

  uploader_unlock(exporter, SP_EXPORTER_IN_DISK);
  sp_delivery_claim(&exporter->delivery);
  *worked = send && sp_delivery_fetch_spooled(&exporter->delivery, &spooled);
  valid = uploader_lock(exporter);
  if (valid && *worked)
    valid = uploader_send_spooled(exporter, &spooled);
  sp_spool_file_dispose(&spooled.file);
  return valid;
}

/* During a backoff, should profiles wait in the spool instead of the queue? */
static bool uploader_prefers_spool(const sp_exporter *exporter) {
  return exporter->delivery.spool &&
         (exporter->delivery.repairable || exporter->flushing);
}

static bool uploader_query_links(sp_exporter *exporter) {
  exporter->delivery.links_open = exporter->on_links_open;
  exporter->on_links_open = NULL;
  uploader_unlock(exporter, SP_EXPORTER_IN_HTTP);
  sp_delivery_query_links(&exporter->delivery);
  return uploader_lock(exporter);
}

static bool uploader_step(sp_exporter *exporter, bool *worked) {
  static const sp_outcome overflowed = SP_OUTCOME_DROPPED_EXPORT;
  uint64_t now_ns = sp_clock_monotonic_ns(exporter->clock);
  bool backoff_over = now_ns >= exporter->backoff_until_ns, finished;

  *worked = true;
  if (!uploader_update(exporter))
    return false;
  if (exporter->on_links_open)
    return uploader_query_links(exporter);
  if (!uploader_awaits_name(exporter))
    exporter->in_flight = sp_upload_queue_detach_new(&exporter->queue);
  if (exporter->in_flight)
    return uploader_deliver_local(exporter);
  if (exporter->queue.bytes > exporter->settings->queue_bytes &&
      exporter->delivery.spool) {
    exporter->in_flight = sp_upload_queue_detach_first(&exporter->queue);
    return uploader_deliver_spool(exporter, &overflowed);
  }
  if (!backoff_over && uploader_prefers_spool(exporter))
    exporter->in_flight = sp_upload_queue_detach_spoolable(&exporter->queue);
  if (exporter->in_flight)
    return uploader_deliver_spool(exporter, NULL);
  exporter->in_flight = sp_upload_queue_detach_older(&exporter->queue, now_ns,
                                                     UPLOADER_MAX_AGE_NS);
  if (exporter->in_flight) {
    in_flight_count(exporter, SP_OUTCOME_DROPPED_EXPORT);
    uploader_unlock(exporter, SP_EXPORTER_IDLE);
    sp_log_warn(exporter->log, SP_LOG_QUEUE,
                "a profile was dropped: it could not be sent for %d minutes",
                SP_RETRY_MAX_AGE_S / 60);
    return uploader_lock(exporter);
  }
  if (backoff_over)
    exporter->in_flight = sp_upload_queue_detach_due(&exporter->queue, now_ns);
  if (exporter->in_flight) {
    if (!uploader_deliver_server(exporter, &finished))
      return false;
    if (!finished)
      in_flight_end(exporter, false);
    return true;
  }
  *worked = false;
  return !exporter->delivery.spool ||
         uploader_visit_spool(exporter, backoff_over, worked);
}

/* At a stop, send the upload in flight if there is time and *may_send is true.
 * An answer that forbids further uploads sets *may_send to false. */
static bool uploader_deliver_last(sp_exporter *exporter, bool *may_send,
                                  uint32_t *refusals, bool *finished) {
  uint32_t before = exporter->in_flight->tries.refusals;
  uint64_t now_ns;

  *finished = false;
  if (!*may_send ||
      sp_clock_monotonic_ns(exporter->clock) >= exporter->send_until_ns)
    return true;
  if (!uploader_deliver_server(exporter, finished))
    return false;
  if (*finished)
    return true;
  now_ns = sp_clock_monotonic_ns(exporter->clock);
  if (now_ns >= exporter->send_until_ns)
    sp_delivery_mark_down(&exporter->delivery, now_ns);
  /* Further uploads are sent only if this upload failed through its own fault.
   */
  *refusals += exporter->in_flight->tries.refusals - before;
  *may_send = exporter->in_flight->tries.refusals > before &&
              !exporter->delivery.backoff_ordered &&
              *refusals < UPLOADER_LAST_REFUSALS;
  return true;
}

bool sp_uploader_finish(sp_exporter *exporter) {
  static const sp_outcome stopped = SP_OUTCOME_DROPPED_STOP;
  uint32_t refusals = 0;
  bool finished, may_send;

  if (!uploader_update(exporter))
    return false;
  while ((exporter->in_flight = sp_upload_queue_detach_new(&exporter->queue)) !=
         NULL)
    if (!uploader_deliver_local(exporter))
      return false;
  /* A backoff that the server did not order is ended early by a stop, once. */
  may_send = !exporter->delivery.backoff_ordered ||
             sp_delivery_backoff_over(&exporter->delivery);
  while ((exporter->in_flight =
              sp_upload_queue_detach_first(&exporter->queue)) != NULL) {
    if (!uploader_deliver_last(exporter, &may_send, &refusals, &finished))
      return false;
    if (!finished && !uploader_deliver_spool(exporter, &stopped))
      return false;
  }
  sp_delivery_count_spooled(&exporter->delivery);
  return true;
}

static uint64_t uploader_next_ns(const sp_exporter *exporter) {
  uint64_t next_ns = sp_delivery_next_ns(&exporter->delivery);
  bool waits = uploader_awaits_name(exporter);

  if (exporter->queue.count == 0)
    return next_ns;
  if (waits)
    next_ns = sp_min_u64(next_ns, exporter->service.wait_until_ns);
  return sp_min_u64(
      next_ns, sp_max_u64(exporter->backoff_until_ns,
                          sp_upload_queue_next_ns(&exporter->queue,
                                                  waits ? UINT64_MAX : 0)));
}

static void uploader_count_cpu(sp_exporter *exporter) {
  uint64_t cpu_ns = sp_thread_cpu_ns();

  sp_count(&sp_counts.uploader_cpu_ns, cpu_ns - exporter->cpu_ns);
  exporter->cpu_ns = cpu_ns;
}

void *sp_uploader_run(void *argument) {
  sp_exporter *exporter = argument;
  bool valid = true, worked;

  pthread_mutex_lock(&exporter->lock);
  exporter->cpu_ns = 0;
  while (!exporter->stopping) {
    valid = uploader_step(exporter, &worked);
    if (!valid)
      break;
    uploader_count_cpu(exporter);
    pthread_cond_broadcast(&exporter->progress);
    if (!worked && !exporter->stopping)
      sp_clock_wait(exporter->clock, &exporter->work, &exporter->lock,
                    uploader_next_ns(exporter));
  }
  /* This thread may have got no CPU time for so long that it was abandoned. */
  if (valid && !exporter->abandoned && sp_uploader_finish(exporter)) {
    uploader_count_cpu(exporter);
    exporter->finished = true;
    pthread_cond_broadcast(&exporter->progress);
  }
  pthread_mutex_unlock(&exporter->lock);
  return NULL;
}
