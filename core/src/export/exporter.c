/* Threads: the pushing thread (the collector's), the uploading thread, and who
 * flushes or stops. One lock guards the queue and the flags; nothing is held
 * during I/O, callbacks (the log's among them) or waiting.
 *
 * The uploading thread takes one upload out of the queue (in_flight), gives the
 * lock back, works, takes the lock, and settles it or returns it to its place.
 * Its order of work: what callback and directory have not had; what overflows
 * the queue, into the spool; what is too old; then, if no backoff runs, the
 * server: the queue, then the spool.
 *
 * Where the name of the service is not known yet, callback and directory have
 * their turn when it is, or after a while (exporter_service.h).
 *
 * Pushing never waits for I/O. Past queue_bytes the oldest is dropped at once
 * where there is no spool; where there is one, the uploading thread moves it
 * there as soon as its present request ends (10 s at most), and only past twice
 * queue_bytes is it dropped.
 *
 * Stop: the uploading thread tries everything once, until an answer speaks
 * against asking more, spools or drops the rest, and ends. What the server
 * itself forbade (429, Retry-After) is not tried. It has until a little before
 * the deadline for the network and the rest for the disk. A thread that does
 * not come back (stuck in a name lookup of an old libcurl, a callback or a
 * disk) is abandoned: the stopping thread takes the queue and, unless the stuck
 * one is at the disk, the spool; nothing the stuck one may touch is freed, and
 * when it comes back it sees the flag first and ends.
 *
 * Fork: the lock is held over the fork, so queue and flags are whole in the
 * child. What the uploading thread was working on is not, and is leaked there:
 * the connection, and the lists of the spool. For a while the child inherits
 * that the server is down: a child that ends soon sends it no request. */
#include "exporter.h"

#include <string.h>

#include "exporter_state.h"
#include "uploader.h"
#include "util/system/counters.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

/* Of the time a stop has, what is kept for the disk and for noticing that the
 * thread is stuck. */
#define EXPORTER_RESERVE_NS      (250 * SP_NS_PER_MS)
#define EXPORTER_RESERVE_DIVISOR 4

/* Even a stop without time lets the thread end in order. */
#define EXPORTER_MIN_STOP_NS (100 * SP_NS_PER_MS)

/* A forked child assumes that the server is down if a request of its parent has
 * had no answer for this time: the child itself has no longer at its end. */
#define EXPORTER_SLOW_NS (2 * SP_NS_PER_S)

/* Process-wide, because what is abandoned has no owner: listed so that leak
 * checkers see it reachable. */
static sp_exporter *_Atomic exporter_abandoned;

static spanprof_status exporter_locks_init(sp_exporter *exporter) {
  int error = pthread_mutex_init(&exporter->lock, NULL);

  if (!error)
    error = sp_condition_init(&exporter->work);
  if (!error)
    error = sp_condition_init(&exporter->progress);
  return error ? sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                               "the uploading thread's lock cannot be made")
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

/* Returns an errno, to be logged after the lock is released. Lock held. Starts
 * no thread once exit handlers run: a signal handler may have called exit()
 * while its thread held a lock that pthread_create() needs. The stop then does
 * the thread's work. */
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

static void exporter_start_tell(sp_exporter *exporter, int error) {
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
  exporter_start_tell(exporter, error);
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

/* Past its bytes the queue loses its oldest; returns them as a list. */
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
  exporter_start_tell(exporter, error);
  for (; dropped; dropped = next) {
    next = dropped->next;
    sp_delivery_count(dropped, SP_OUTCOME_DROPPED_EXPORT);
    sp_upload_free(exporter->mem, dropped);
    sp_log_warn(exporter->log, SP_LOG_QUEUE,
                "a profile was dropped: more than queue_bytes wait");
  }
}

/* Is something up to `number` not handed on yet? Lock held. */
static bool exporter_pending(const sp_exporter *exporter, uint64_t number) {
  return (exporter->in_flight && exporter->in_flight->number <= number) ||
         sp_upload_queue_pending(&exporter->queue, number);
}

/* Do all remaining profiles wait for their next try? Lock held. */
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
  exporter_start_tell(exporter, error);
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

/* The thread is stuck: do without it what can be done, and leave it all that
 * it may still touch. It ends when it sees the flag. Takes the lock over. */
static void exporter_abandon(sp_exporter *exporter) {
  sp_upload *stuck = exporter->in_flight;
  bool disk = exporter->place != SP_EXPORTER_IN_DISK;
  sp_upload_queue queue = exporter->queue;
  sp_upload *upload;

  memset(&exporter->queue, 0, sizeof exporter->queue);
  exporter->abandoned = true;
  if (exporter->delivery.client)
    sp_http_client_abort(exporter->delivery.client);
  pthread_mutex_unlock(&exporter->lock);
  if (stuck && !(disk && sp_delivery_spool(&exporter->delivery, stuck)))
    sp_delivery_count(stuck, SP_OUTCOME_DROPPED_STOP);
  while ((upload = sp_upload_queue_detach_first(&queue)) != NULL) {
    if (!(disk && sp_delivery_spool(&exporter->delivery, upload)))
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
  /* A slow disk gets all the time there is: nobody could do better. */
  if (exporter->place == SP_EXPORTER_IN_DISK)
    exporter_wait_finished(exporter, until_ns);
  if (!exporter->finished) {
    exporter_abandon(exporter);
    return SPANPROF_ERR_STATE;
  }
  pthread_mutex_unlock(&exporter->lock);
  exporter_start_tell(exporter, error);
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
