#include "exporter_steps.h"

#include "export/upload/retry.h"
#include "exporter_service.h"
#include "util/system/own_thread.h"

#define EXPORTER_MAX_AGE_NS (SP_RETRY_MAX_AGE_S * SP_NS_PER_S)

/* So many answers that may be the upload's own fault are borne at the stop. */
#define EXPORTER_LAST_REFUSALS 3

/* Give the lock back for work at `place`. */
static void exporter_leave(sp_exporter *exporter, sp_exporter_place place) {
  exporter->place = place;
  if (place == SP_EXPORTER_IN_HTTP)
    exporter->asking_ns = sp_clock_monotonic_ns(exporter->clock);
  pthread_mutex_unlock(&exporter->lock);
}

/* Lock again. False: the exporter was abandoned meanwhile and must not be
 * touched. Does not return if the exiting process has given up waiting for this
 * thread. */
static bool exporter_enter(sp_exporter *exporter) {
  sp_own_thread_gate();
  pthread_mutex_lock(&exporter->lock);
  exporter->place = SP_EXPORTER_IDLE;
  return !exporter->abandoned;
}

void sp_exporter_backoff_read(sp_exporter *exporter) {
  exporter->backoff_until_ns = exporter->delivery.backoff_until_ns;
  exporter->backoff_ordered = exporter->delivery.backoff_ordered;
}

/* What there is since the last step. False as exporter_enter(). */
static bool exporter_adopt(sp_exporter *exporter) {
  sp_service_news news;
  sp_http_client *client;

  sp_exporter_service_adopt(exporter);
  if (sp_exporter_service_news(exporter, &news)) {
    exporter_leave(exporter, SP_EXPORTER_IDLE);
    sp_exporter_service_say(exporter, &news);
    if (!exporter_enter(exporter))
      return false;
  }
  if (!sp_delivery_lacks_client(&exporter->delivery))
    return true;
  exporter_leave(exporter, SP_EXPORTER_IN_HTTP);
  client = sp_delivery_client_new(&exporter->delivery);
  if (!exporter_enter(exporter)) {
    sp_http_client_free(client);
    return false;
  }
  exporter->delivery.client = client;
  if (client && exporter->stopping)
    sp_http_client_limit(client, exporter->send_until_ns);
  return true;
}

void sp_exporter_land(sp_exporter *exporter, bool settled) {
  sp_upload *upload = exporter->in_flight;

  exporter->in_flight = NULL;
  if (settled)
    sp_upload_free(exporter->mem, upload);
  else
    sp_upload_queue_return(&exporter->queue, upload);
}

static void exporter_settle(sp_exporter *exporter, sp_fate fate) {
  sp_delivery_settle(exporter->in_flight, fate);
  sp_exporter_land(exporter, true);
}

/* The turns of callback and directory. As in the next three: false where
 * exporter_enter() said so. */
static bool exporter_hand_local(sp_exporter *exporter) {
  sp_upload *upload = exporter->in_flight;

  exporter_leave(exporter, SP_EXPORTER_IN_CALLBACK);
  sp_delivery_call(&exporter->delivery, upload);
  if (!exporter_enter(exporter))
    return false;
  exporter_leave(exporter, SP_EXPORTER_IN_DISK);
  sp_delivery_write(&exporter->delivery, upload);
  if (!exporter_enter(exporter))
    return false;
  if (sp_delivery_uploads(&exporter->delivery))
    sp_exporter_land(exporter, false);
  else
    exporter_settle(exporter,
                    upload->taken ? SP_FATE_EXPORTED : SP_FATE_DROPPED_EXPORT);
  return true;
}

/* Into the spool; if that has no room, back into the queue (`otherwise` NULL)
 * or settled. */
static bool exporter_hand_spool(sp_exporter *exporter,
                                const sp_fate *otherwise) {
  bool spooled;

  exporter_leave(exporter, SP_EXPORTER_IN_DISK);
  spooled = sp_delivery_spool(&exporter->delivery, exporter->in_flight);
  if (!exporter_enter(exporter))
    return false;
  exporter->in_flight->unspoolable = !spooled;
  if (!spooled && otherwise)
    exporter_settle(exporter, *otherwise);
  else
    sp_exporter_land(exporter, spooled);
  return true;
}

/* To the server; the upload is left in flight where *settled is false. */
static bool exporter_hand_server(sp_exporter *exporter, bool *settled) {
  sp_fate fate;

  exporter_leave(exporter, SP_EXPORTER_IN_HTTP);
  *settled = sp_delivery_send(&exporter->delivery, exporter->in_flight, &fate);
  if (!exporter_enter(exporter))
    return false;
  sp_exporter_backoff_read(exporter);
  if (*settled)
    exporter_settle(exporter, fate);
  return true;
}

static bool exporter_send_spooled(sp_exporter *exporter, sp_spooled *spooled) {
  exporter_leave(exporter, SP_EXPORTER_IN_HTTP);
  sp_delivery_send_spooled(&exporter->delivery, spooled);
  if (!exporter_enter(exporter))
    return false;
  sp_exporter_backoff_read(exporter);
  exporter_leave(exporter, SP_EXPORTER_IN_DISK);
  sp_delivery_land_spooled(&exporter->delivery, spooled);
  return exporter_enter(exporter);
}

static bool exporter_visit_spool(sp_exporter *exporter, bool send,
                                 bool *worked) {
  sp_spooled spooled = {0};
  bool there;

  exporter_leave(exporter, SP_EXPORTER_IN_DISK);
  sp_delivery_claim(&exporter->delivery);
  *worked = send && sp_delivery_take_spooled(&exporter->delivery, &spooled);
  there = exporter_enter(exporter);
  if (there && *worked)
    there = exporter_send_spooled(exporter, &spooled);
  sp_spool_file_dispose(&spooled.file);
  return there;
}

/* While the server may not be asked: is the disk a better place to wait than
 * the queue? */
static bool exporter_prefers_spool(const sp_exporter *exporter) {
  return exporter->delivery.spool &&
         (exporter->delivery.mendable || exporter->flushing);
}

static bool exporter_ask_links(sp_exporter *exporter) {
  exporter->delivery.links_open = exporter->asking;
  exporter->asking = NULL;
  exporter_leave(exporter, SP_EXPORTER_IN_HTTP);
  sp_delivery_ask_links(&exporter->delivery);
  return exporter_enter(exporter);
}

bool sp_exporter_step(sp_exporter *exporter, bool *worked) {
  static const sp_fate overflowed = SP_FATE_DROPPED_EXPORT;
  uint64_t now_ns = sp_clock_monotonic_ns(exporter->clock);
  bool backoff_over = now_ns >= exporter->backoff_until_ns, settled;

  *worked = true;
  if (!exporter_adopt(exporter))
    return false;
  if (exporter->asking)
    return exporter_ask_links(exporter);
  if (!sp_exporter_holds(exporter))
    exporter->in_flight = sp_upload_queue_take_fresh(&exporter->queue);
  if (exporter->in_flight)
    return exporter_hand_local(exporter);
  if (exporter->queue.bytes > exporter->settings->queue_bytes &&
      exporter->delivery.spool) {
    exporter->in_flight = sp_upload_queue_take_first(&exporter->queue);
    return exporter_hand_spool(exporter, &overflowed);
  }
  if (!backoff_over && exporter_prefers_spool(exporter))
    exporter->in_flight = sp_upload_queue_take_spoolable(&exporter->queue);
  if (exporter->in_flight)
    return exporter_hand_spool(exporter, NULL);
  exporter->in_flight =
      sp_upload_queue_take_older(&exporter->queue, now_ns, EXPORTER_MAX_AGE_NS);
  if (exporter->in_flight) {
    exporter_settle(exporter, SP_FATE_DROPPED_EXPORT);
    exporter_leave(exporter, SP_EXPORTER_IDLE);
    sp_log_warn(exporter->log, SP_LOG_QUEUE,
                "a profile was dropped: it could not be sent for %d minutes",
                SP_RETRY_MAX_AGE_S / 60);
    return exporter_enter(exporter);
  }
  if (backoff_over)
    exporter->in_flight = sp_upload_queue_take_due(&exporter->queue, now_ns);
  if (exporter->in_flight) {
    if (!exporter_hand_server(exporter, &settled))
      return false;
    if (!settled)
      sp_exporter_land(exporter, false);
    return true;
  }
  *worked = false;
  return !exporter->delivery.spool ||
         exporter_visit_spool(exporter, backoff_over, worked);
}

/* To the server at the stop, if *ask (no answer so far speaks against it) and
 * there is time. */
static bool exporter_hand_last(sp_exporter *exporter, bool *ask,
                               uint32_t *refusals, bool *settled) {
  uint32_t before = exporter->in_flight->tries.refusals;
  uint64_t now_ns;

  *settled = false;
  if (!*ask ||
      sp_clock_monotonic_ns(exporter->clock) >= exporter->send_until_ns)
    return true;
  if (!exporter_hand_server(exporter, settled))
    return false;
  if (*settled)
    return true;
  now_ns = sp_clock_monotonic_ns(exporter->clock);
  if (now_ns >= exporter->send_until_ns)
    sp_delivery_down(&exporter->delivery, now_ns);
  /* The others are sent only if it was the upload's own fault. */
  *refusals += exporter->in_flight->tries.refusals - before;
  *ask = exporter->in_flight->tries.refusals > before &&
         !exporter->delivery.backoff_ordered &&
         *refusals < EXPORTER_LAST_REFUSALS;
  return true;
}

bool sp_exporter_finish(sp_exporter *exporter) {
  static const sp_fate stopped = SP_FATE_DROPPED_STOP;
  uint32_t refusals = 0;
  bool settled, ask;

  if (!exporter_adopt(exporter))
    return false;
  while ((exporter->in_flight = sp_upload_queue_take_fresh(&exporter->queue)) !=
         NULL)
    if (!exporter_hand_local(exporter))
      return false;
  /* A backoff of our own making is cut short once. */
  ask = !exporter->delivery.backoff_ordered ||
        sp_delivery_backoff_over(&exporter->delivery);
  while ((exporter->in_flight = sp_upload_queue_take_first(&exporter->queue)) !=
         NULL) {
    if (!exporter_hand_last(exporter, &ask, &refusals, &settled))
      return false;
    if (!settled && !exporter_hand_spool(exporter, &stopped))
      return false;
  }
  sp_delivery_settle_spooled(&exporter->delivery);
  return true;
}

uint64_t sp_exporter_next_ns(const sp_exporter *exporter) {
  uint64_t next_ns = sp_delivery_next_ns(&exporter->delivery);
  bool holds = sp_exporter_holds(exporter);

  if (exporter->queue.count == 0)
    return next_ns;
  if (holds)
    next_ns = sp_min_u64(next_ns, exporter->hold_until_ns);
  return sp_min_u64(
      next_ns, sp_max_u64(exporter->backoff_until_ns,
                          sp_upload_queue_next_ns(&exporter->queue,
                                                  holds ? UINT64_MAX : 0)));
}
