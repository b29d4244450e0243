/* Threads: the collector thread pushes parts of profiles, the uploading thread
 * exports them, and other threads flush or stop the exporter. One lock guards
 * the queue and the flags. It is not held during I/O, callbacks (including the
 * log callback) or waits.
 *
 * An upload is a part of a profile in the queue. The uploading thread detaches
 * one upload from the queue (in_flight), releases the lock, works, acquires the
 * lock, and counts the upload or returns it to its place in the queue. It works
 * in this order: it delivers uploads that the callback and the output directory
 * have not received; moves uploads beyond queue_bytes to the spool; drops
 * uploads that are too old; and, if there is no backoff, sends uploads to the
 * server, first those in the queue, then those in the spool.
 *
 * If the name of the service is not known yet, the delivery to the callback and
 * the output directory waits for the name for a while (service_name.h).
 *
 * A push never waits for I/O. If the queue has more than queue_bytes and there
 * is no spool, the oldest upload is dropped immediately. If there is a spool,
 * the uploading thread moves the upload there after its present request (at
 * most 10 s), and uploads are dropped only beyond twice queue_bytes.
 *
 * Stop: the uploading thread sends every upload once, until an answer forbids
 * further uploads. It spools or drops the remaining uploads, and finishes. If
 * the server itself has forbidden requests (429, Retry-After), none is sent.
 * Requests may take until shortly before the deadline; the rest of the time is
 * for the disk. If the uploading thread does not return from a name lookup of
 * an old libcurl, a callback or the disk, it is abandoned: the thread that
 * stops the exporter takes over the queue, and also the spool unless the stuck
 * thread is at the disk. Nothing that the stuck thread may use is freed. When
 * the stuck thread returns, it first sees the flag `abandoned`, and ends.
 *
 * Fork: the forking thread holds the lock, so the child has a consistent queue
 * and flags. The objects that the uploading thread was using, the connection
 * and the lists of the spool, may be inconsistent, so the child does not use or
 * free them. If the server was down for the parent, the child assumes for a
 * while that it is down, so a child that ends soon sends no request. */
#include "exporter.h"

#include <string.h>

#include "exporter_state.h"
#include "uploader.h"
#include "util/system/counters.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

/* Part of the time of a stop that is reserved for writing to the disk, and for
 * detecting that the uploading thread is stuck. */
#define EXPORTER_RESERVE_NS      (250 * SP_NS_PER_MS)
#define EXPORTER_RESERVE_DIVISOR 4

/* Minimum time of a stop, so that the uploading thread can finish its present
 * work. */
#define EXPORTER_MIN_STOP_NS (100 * SP_NS_PER_MS)

/* If a request of the parent has had no answer for this time, a forked child
 * assumes that the server is down, because a child that ends does not wait
 * longer than this for an answer. */
#define EXPORTER_SLOW_NS (2 * SP_NS_PER_S)

/* The list of abandoned exporters. Process-wide, because they have no owner.
 * The list keeps them reachable for leak checkers. */
static sp_exporter *_Atomic exporter_abandoned;

static spanprof_status exporter_locks_init(sp_exporter *exporter) {
  int error = pthread_mutex_init(&exporter->lock, NULL);

  if (!error)
    error = sp_condition_init(&exporter->work);
  if (!error)
    error = sp_condition_init(&exporter->progress);
  return error ? sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                               "the uploading thread's lock cannot be created")
               : SPANPROF_OK;
}

static void exporter_free(sp_exporter *exporter) {
  if (exporter->running)
    pthread_join(exporter->thread, NULL);
  sp_delivery_dispose(&exporter->delivery);
  sp_service_name_dispose(&exporter->service);
  pthread_cond_destroy(&exporter->progress);
  pthread_cond_destroy(&exporter->work);
  pthread_mutex_destroy(&exporter->lock);
  sp_mem_free(exporter->mem, exporter);
}

spanprof_status sp_exporter_new(sp_exporter **out, const sp_mem *mem,
                                const sp_settings *settings,
                                const sp_clock *clock, sp_log *log) {
  sp_exporter *exporter = sp_mem_zero(mem, sizeof *exporter);
  spanprof_status st;

  *out = NULL;
  if (!exporter)
    return SPANPROF_ERR_NOMEM;
  exporter->mem = mem;
  exporter->settings = settings;
  exporter->clock = clock;
  exporter->log = log;
  exporter->send_until_ns = UINT64_MAX;
  sp_service_name_init(&exporter->service, mem, settings, clock);
  st = exporter_locks_init(exporter);
  if (!st)
    st = sp_delivery_init(&exporter->delivery, mem, settings, clock, log);
  if (st) {
    exporter_free(exporter);
    return st;
  }
  *out = exporter;
  return SPANPROF_OK;
}

static sp_own_stack exporter_stack(const sp_exporter *exporter) {
  return exporter->settings->on_profile ? SP_OWN_STACK_DEFAULT
                                        : SP_OWN_STACK_SMALL;
}

/* Start the uploading thread. The caller holds the lock. Returns an errno,
 * which the caller logs after it has released the lock. Starts no thread once
 * exit handlers run, because a signal handler may have called exit() while its
 * thread held a lock that pthread_create() needs. In this case the stop does
 * the work of the uploading thread. */
static int exporter_start(sp_exporter *exporter) {
  int error;

  if (exporter->running || sp_exit_begun())
    return 0;
  error =
      sp_own_thread_start(&exporter->thread, "spanprof-upload",
                          exporter_stack(exporter), sp_uploader_run, exporter);
  exporter->running = error == 0;
  return error;
}

static void exporter_log_start_error(sp_exporter *exporter, int error) {
  if (error)
    sp_log_warn(exporter->log, SP_LOG_MEMORY,
                "the uploading thread cannot be started: %s", strerror(error));
}

void sp_exporter_query_links(sp_exporter *exporter, void (*open)(void)) {
  int error = 0;

  pthread_mutex_lock(&exporter->lock);
  exporter->on_links_open =
      sp_delivery_uploads(&exporter->delivery) ? open : NULL;
  if (exporter->on_links_open)
    error = exporter_start(exporter);
  pthread_mutex_unlock(&exporter->lock);
  exporter_log_start_error(exporter, error);
}

spanprof_status sp_exporter_runtime_set(sp_exporter *exporter, const char *name,
                                        const char *version) {
  spanprof_status st;

  pthread_mutex_lock(&exporter->lock);
  st = sp_service_name_set_runtime(&exporter->service, name, version);
  pthread_mutex_unlock(&exporter->lock);
  return st;
}

spanprof_status sp_exporter_service_set(sp_exporter *exporter, const char *name,
                                        const char *name_space, bool *adopted) {
  spanprof_status st;

  pthread_mutex_lock(&exporter->lock);
  st = sp_service_name_set(&exporter->service, name, name_space, adopted);
  pthread_cond_signal(&exporter->work);
  pthread_mutex_unlock(&exporter->lock);
  return st;
}

void sp_exporter_end_name_wait(sp_exporter *exporter) {
  pthread_mutex_lock(&exporter->lock);
  sp_service_name_end_wait(&exporter->service);
  pthread_cond_signal(&exporter->work);
  pthread_mutex_unlock(&exporter->lock);
}

/* Remove the oldest uploads until the queue is within its size limit, and
 * return the removed uploads as a list. */
static sp_upload *exporter_overflow(sp_exporter *exporter) {
  uint64_t max_bytes = exporter->settings->queue_bytes;
  sp_upload *list = NULL, *upload;

  if (exporter->delivery.spool)
    max_bytes *= 2;
  while (exporter->queue.count > 1 && exporter->queue.bytes > max_bytes) {
    upload = sp_upload_queue_detach_first(&exporter->queue);
    upload->next = list;
    list = upload;
  }
  return list;
}

void sp_exporter_push(sp_exporter *exporter, sp_encoded *part) {
  sp_upload *upload = sp_upload_new(exporter->mem, part,
                                    sp_clock_monotonic_ns(exporter->clock));
  sp_upload *dropped, *next;
  sp_upload lost = {.part = *part};
  int error;

  if (!upload) {
    sp_delivery_count(&lost, SP_OUTCOME_DROPPED_EXPORT);
    sp_encoded_dispose(part);
    sp_log_warn(exporter->log, SP_LOG_MEMORY,
                "a profile was dropped: out of memory");
    return;
  }
  pthread_mutex_lock(&exporter->lock);
  upload->number = ++exporter->last_number;
  sp_upload_queue_add(&exporter->queue, upload);
  sp_service_name_begin_wait(&exporter->service);
  dropped = exporter_overflow(exporter);
  error = exporter_start(exporter);
  pthread_cond_signal(&exporter->work);
  pthread_mutex_unlock(&exporter->lock);
  exporter_log_start_error(exporter, error);
  for (; dropped; dropped = next) {
    next = dropped->next;
    sp_delivery_count(dropped, SP_OUTCOME_DROPPED_EXPORT);
    sp_upload_free(exporter->mem, dropped);
    sp_log_warn(exporter->log, SP_LOG_QUEUE,
                "a profile was dropped: the profiles that wait for their "
                "upload exceed queue_bytes");
  }
}

/* Is there an upload whose number is at most `number` and that is not exported
 * yet? The caller holds the lock. */
static bool exporter_pending(const sp_exporter *exporter, uint64_t number) {
  return (exporter->in_flight && exporter->in_flight->number <= number) ||
         sp_upload_queue_pending(&exporter->queue, number);
}

/* Do all remaining uploads wait for their next try? The caller holds the lock.
 */
static bool exporter_waits(const sp_exporter *exporter) {
  return !exporter->in_flight &&
         sp_upload_queue_all_tried(&exporter->queue,
                                   exporter->delivery.spool != NULL) &&
         sp_max_u64(exporter->backoff_until_ns,
                    sp_upload_queue_next_ns(&exporter->queue, 0)) >
             sp_clock_monotonic_ns(exporter->clock);
}

static spanprof_status exporter_flush(sp_exporter *exporter, uint64_t until_ns,
                                      bool once) {
  spanprof_status st = SPANPROF_OK;
  uint64_t number;
  int error = 0;

  pthread_mutex_lock(&exporter->lock);
  number = exporter->last_number;
  exporter->flushing++;
  pthread_cond_signal(&exporter->work);
  while (exporter_pending(exporter, number)) {
    error = exporter_start(exporter);
    if (once && exporter_waits(exporter))
      st = SPANPROF_ERR_IO;
    else if (sp_clock_monotonic_ns(exporter->clock) >= until_ns)
      st = SPANPROF_ERR_TIMEOUT;
    if (st)
      break;
    sp_clock_wait(exporter->clock, &exporter->progress, &exporter->lock,
                  until_ns);
  }
  exporter->flushing--;
  pthread_mutex_unlock(&exporter->lock);
  exporter_log_start_error(exporter, error);
  return st;
}

spanprof_status sp_exporter_flush(sp_exporter *exporter, uint64_t until_ns) {
  return exporter_flush(exporter, until_ns, false);
}

spanprof_status sp_exporter_flush_once(sp_exporter *exporter,
                                       uint64_t until_ns) {
  return exporter_flush(exporter, until_ns, true);
}

void sp_exporter_retry_now(sp_exporter *exporter) {
  pthread_mutex_lock(&exporter->lock);
  if (!exporter->backoff_ordered)
    exporter->backoff_until_ns = 0;
  pthread_mutex_unlock(&exporter->lock);
}

void sp_exporter_mark_unanswered(sp_exporter *exporter) {
  pthread_mutex_lock(&exporter->lock);
  if (exporter->place == SP_EXPORTER_IN_HTTP)
    sp_delivery_mark_down(&exporter->delivery,
                          sp_clock_monotonic_ns(exporter->clock));
  pthread_mutex_unlock(&exporter->lock);
}

/* Abandon the stuck uploading thread. Does the thread's remaining work as far
 * as possible, and frees nothing that the thread may still use. The thread ends
 * when it sees the flag `abandoned`. The caller holds the lock, which this
 * function releases. */
static void exporter_abandon(sp_exporter *exporter) {
  sp_upload *stuck = exporter->in_flight;
  bool may_spool = exporter->place != SP_EXPORTER_IN_DISK;
  sp_upload_queue queue = exporter->queue;
  sp_upload *upload;

  memset(&exporter->queue, 0, sizeof exporter->queue);
  exporter->abandoned = true;
  if (exporter->delivery.client)
    sp_http_client_abort(exporter->delivery.client);
  pthread_mutex_unlock(&exporter->lock);
  if (stuck && !(may_spool && sp_delivery_spool(&exporter->delivery, stuck)))
    sp_delivery_count(stuck, SP_OUTCOME_DROPPED_STOP);
  while ((upload = sp_upload_queue_detach_first(&queue)) != NULL) {
    if (!(may_spool && sp_delivery_spool(&exporter->delivery, upload)))
      sp_delivery_count(upload, SP_OUTCOME_DROPPED_STOP);
    sp_upload_free(exporter->mem, upload);
  }
  sp_delivery_count_spooled(&exporter->delivery);
  sp_own_thread_defer_join(exporter->thread);
  exporter->next = atomic_load(&exporter_abandoned);
  while (!atomic_compare_exchange_weak(&exporter_abandoned, &exporter->next,
                                       exporter))
    ;
}

static void exporter_wait_finished(sp_exporter *exporter, uint64_t until_ns) {
  while (!exporter->finished &&
         sp_clock_monotonic_ns(exporter->clock) < until_ns)
    sp_clock_wait(exporter->clock, &exporter->progress, &exporter->lock,
                  until_ns);
}

spanprof_status sp_exporter_stop(sp_exporter *exporter, uint64_t until_ns) {
  uint64_t dropped = sp_counted(&sp_counts.samples_dropped_stop), now_ns;
  uint64_t reserve_ns;
  int error = 0;

  pthread_mutex_lock(&exporter->lock);
  now_ns = sp_clock_monotonic_ns(exporter->clock);
  until_ns = sp_max_u64(until_ns, now_ns + EXPORTER_MIN_STOP_NS);
  reserve_ns = sp_min_u64(EXPORTER_RESERVE_NS,
                          (until_ns - now_ns) / EXPORTER_RESERVE_DIVISOR);
  exporter->send_until_ns = until_ns - reserve_ns;
  if (exporter->queue.count)
    error = exporter_start(exporter);
  exporter->stopping = true;
  if (exporter->delivery.client)
    sp_http_client_limit(exporter->delivery.client, exporter->send_until_ns);
  pthread_cond_broadcast(&exporter->work);
  if (!exporter->running)
    exporter->finished = sp_uploader_finish(exporter);
  exporter_wait_finished(exporter, until_ns - reserve_ns / 2);
  /* If the uploading thread is at the disk, wait until the deadline, because no
   * other thread could write faster. */
  if (exporter->place == SP_EXPORTER_IN_DISK)
    exporter_wait_finished(exporter, until_ns);
  if (!exporter->finished) {
    exporter_abandon(exporter);
    return SPANPROF_ERR_STATE;
  }
  pthread_mutex_unlock(&exporter->lock);
  exporter_log_start_error(exporter, error);
  exporter_free(exporter);
  return sp_counted(&sp_counts.samples_dropped_stop) > dropped
             ? SPANPROF_ERR_TIMEOUT
             : SPANPROF_OK;
}

void sp_exporter_before_fork(sp_exporter *exporter) {
  pthread_mutex_lock(&exporter->lock);
}

void sp_exporter_after_fork_parent(sp_exporter *exporter) {
  pthread_mutex_unlock(&exporter->lock);
}

void sp_exporter_after_fork_child(sp_exporter *exporter) {
  const uint64_t now_ns = sp_clock_monotonic_ns(exporter->clock);
  sp_upload *upload;

  exporter_locks_init(exporter);
  sp_upload_free(exporter->mem, exporter->in_flight);
  exporter->in_flight = NULL;
  while ((upload = sp_upload_queue_detach_first(&exporter->queue)) != NULL)
    sp_upload_free(exporter->mem, upload);
  if (exporter->place == SP_EXPORTER_IN_HTTP &&
      now_ns - exporter->http_since_ns >= EXPORTER_SLOW_NS)
    sp_delivery_mark_down(&exporter->delivery, now_ns);
  sp_delivery_after_fork_child(&exporter->delivery);
  sp_service_name_after_fork_child(&exporter->service);
  exporter->place = SP_EXPORTER_IDLE;
  exporter->flushing = 0;
  sp_uploader_copy_backoff(exporter);
  exporter->cpu_ns = 0;
  exporter->on_links_open = NULL;
  exporter->running = false;
}
