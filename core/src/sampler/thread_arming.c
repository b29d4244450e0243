#include "thread_arming.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture.h"
#include "sampler/handler/handler_counts.h"
#include "sampler/handler/signal.h"
#include "thread_record.h"
#include "thread_status.h"
#include "util/memory/hash.h"

/* A random number in (0, limit]. It becomes a timer's first interval. A random
 * first interval ensures that threads that live shorter than an interval are
 * sampled in proportion to their CPU time. */
static uint64_t random_up_to(uint64_t limit) {
  if (sp_threads.random == 0 &&
      getrandom(&sp_threads.random, sizeof sp_threads.random, GRND_NONBLOCK) !=
          sizeof sp_threads.random)
    sp_threads.random = sp_monotonic_ns();
  sp_threads.random = sp_hash_mix(sp_threads.random, SP_HASH_SEED2) | 1;
  return 1 + (sp_threads.random >> 1) % limit;
}

uint32_t sp_timers_allowed(void) {
  struct rlimit limit;

  if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / 2 > UINT32_MAX)
    return UINT32_MAX;
  return (uint32_t)(limit.rlim_cur / 2);
}

/* A thread counts as new if it had used less CPU time than this when its timer
 * was set. */
#define ARMING_NEW_NS (1 * SP_NS_PER_MS)

/* Did the thread start after sampling began? If so, all its CPU time is
 * profiled, otherwise only its CPU time from now on. */
static bool thread_is_new(int tid, uint64_t cpu_ns) {
  if (sp_threads.beginning || sp_threads.registered_only)
    return false;
  if (cpu_ns < ARMING_NEW_NS || sp_threads.began_ticks == 0)
    return true;
  return tid != getpid() && sp_thread_began(tid) >= sp_threads.began_ticks;
}

/* Set the time of the thread's first tick (see thread_table.h). */
static void ticks_begin(sp_thread *thread, uint64_t cpu_ns) {
  thread->first_ns = random_up_to(sp_threads.base.interval_ns);
  thread->armed_cpu_ns = thread_is_new(thread->tid, cpu_ns) ? 0 : cpu_ns;
  atomic_store(&thread->samples, 0);
  atomic_store(&thread->ticks, 0);
  atomic_store(&thread->ticks_ahead, 0);
}

/* Record the ticks that expired while the thread had no timer. Returns the time
 * until the next tick. */
static uint64_t ticks_catch_up(sp_thread *thread) {
  const sp_timer_base *base = &sp_threads.base;
  const uint64_t cpu_ns = sp_timer_thread_cpu_ns(thread->tid);
  uint32_t why = SP_SAMPLE_NO_TIMER;
  uint64_t ticks;

  if (thread->first_ns == 0) {
    ticks_begin(thread, cpu_ns);
    why = SP_SAMPLE_THREAD_START;
  }
  if (base->wall)
    return thread->first_ns;
  ticks = sp_thread_ticks_due(thread, base->interval_ns, cpu_ns);
  atomic_fetch_add(&thread->ticks, ticks);
  if (ticks > 0)
    sp_capture_book(thread, why, ticks);
  return sp_thread_due_ns(thread, base->interval_ns) - cpu_ns;
}

spanprof_status sp_thread_arm(sp_thread *thread) {
  sp_timer_base base = sp_threads.base;
  uint64_t first_ns;
  int error;

  if (sp_threads.paused)
    return SPANPROF_OK;
  first_ns = ticks_catch_up(thread);
  if (sp_threads.timer_count >= sp_threads.timers_max)
    return SPANPROF_ERR_LIMIT;
  if (sp_threads.signal_number == 0 ||
      sp_signal_default(sp_threads.signal_number))
    return SPANPROF_ERR_UNSUPPORTED;
  atomic_store_explicit(&thread->active, true, memory_order_release);
  if (base.wall_registered && !atomic_load(&thread->self))
    base.wall = false;
  error = sp_timer_start(&thread->timer, &base, thread->tid,
                         sp_threads.signal_number,
                         sp_signal_value(thread->index), first_ns);
  if (error) {
    atomic_store(&thread->active, false);
    /* Linux 6.1: timer_create(2) returns EINVAL if the thread has ended,
     * timer_settime(2) returns ESRCH if it is exiting. */
    return error == ESRCH || error == EINVAL ? SPANPROF_ERR_STATE
                                             : SPANPROF_ERR_LIMIT;
  }
  sp_threads.timer_count++;
  return SPANPROF_OK;
}

void sp_thread_disarm(sp_thread *thread) {
  atomic_store_explicit(&thread->active, false, memory_order_release);
  if (thread->timer == SP_TIMER_NONE)
    return;
  sp_timer_stop(thread->timer);
  thread->timer = SP_TIMER_NONE;
  sp_threads.timer_count--;
}

void sp_thread_book_rejected(sp_thread *thread, bool last) {
  uint64_t ticks;

  if (atomic_load(&thread->ticks_rejected) == 0)
    return;
  sp_capture_book(thread, SP_SAMPLE_RING_FULL,
                  atomic_exchange(&thread->ticks_rejected, 0));
  ticks = last ? atomic_exchange(&thread->ticks_rejected, 0) : 0;
  if (ticks > 0)
    sp_handler_drop(&sp_counts.samples_dropped_full, ticks);
}

void sp_thread_book_end(sp_thread *thread, uint64_t late_ns) {
  const uint64_t interval_ns = sp_threads.base.interval_ns;
  const uint64_t cpu_ns = sp_timer_thread_cpu_ns(thread->tid);
  const uint64_t due_ns = sp_thread_due_ns(thread, interval_ns);
  const bool blocked = atomic_load(&thread->blocked);
  uint64_t ticks, ahead = atomic_load(&thread->ticks_ahead);

  if (thread->excluded || thread->first_ns == 0 || cpu_ns < due_ns + late_ns)
    return;
  ticks = sp_thread_ticks_due(thread, interval_ns, cpu_ns);
  if (ticks <= ahead)
    return;
  sp_capture_book(thread, blocked ? SP_SAMPLE_BLOCKED : SP_SAMPLE_THREAD_END,
                  ticks - ahead);
  sp_count(&sp_counts.ticks_booked_at_thread_end, ticks - ahead);
}

void sp_thread_book_blocked(sp_thread *thread, uint64_t late_ns) {
  const uint64_t interval_ns = sp_threads.base.interval_ns;
  const uint64_t cpu_ns = sp_timer_thread_cpu_ns(thread->tid);
  const uint64_t ahead = atomic_load(&thread->ticks_ahead);
  const uint64_t due_ns =
      sp_thread_due_ns(thread, interval_ns) + ahead * interval_ns;
  uint64_t ticks;

  if (sp_threads.base.wall || thread->timer == SP_TIMER_NONE ||
      cpu_ns < due_ns + late_ns)
    return;
  ticks = 1 + (cpu_ns - due_ns) / interval_ns;
  atomic_fetch_add(&thread->ticks_ahead, ticks);
  sp_capture_book(thread, SP_SAMPLE_BLOCKED, ticks);
}

void sp_thread_retire(sp_thread *thread) {
  const bool own =
      thread->timer != SP_TIMER_NONE && thread->tid == (int)syscall(SYS_gettid);
  sigset_t mask;

  if (own)
    sp_signal_block(sp_threads.signal_number, &mask);
  sp_thread_disarm(thread);
  sp_thread_book_end(thread,
                     atomic_load(&thread->blocked) ? 0 : SP_THREAD_LATE_NS);
  sp_thread_book_rejected(thread, true);
  thread->first_ns = 0;
  if (own)
    sp_signal_restore(sp_threads.signal_number, &mask);
}

static void timers_delete(void) {
  uint32_t i;

  for (i = 1; i < sp_threads.record_count; i++)
    sp_thread_disarm(sp_thread_at(i));
}

bool sp_threads_signal_update(void) {
  const bool young = sp_threads.young_until_ns != 0;

  if (young && sp_monotonic_ns() >= sp_threads.young_until_ns) {
    timers_delete();
    sp_threads.young_until_ns = 0;
    sp_threads.signal_number = sp_threads.session_signal;
  } else if (young && sp_threads.signal_number != 0 &&
             !sp_signal_try_install(SP_THREAD_YOUNG_SIGNAL,
                                    sp_capture_signal)) {
    /* The child itself now uses SP_THREAD_YOUNG_SIGNAL, so timers must not send
     * a signal. */
    timers_delete();
    sp_threads.signal_number = 0;
  } else if (sp_threads.signal_number != 0 &&
             sp_signal_default(sp_threads.signal_number)) {
    timers_delete();
    return false;
  }
  return sp_threads.signal_number != 0;
}

void sp_threads_pause(void) {
  uint32_t i;

  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.paused = true;
  for (i = 1; i < sp_threads.record_count; i++) {
    sp_thread *thread = sp_thread_at(i);

    if (thread->tid == 0)
      continue;
    sp_thread_retire(thread);
    /* When sampling resumes, the thread id may belong to another thread. */
    if (!atomic_load(&thread->self) && !thread->excluded)
      sp_thread_clear(thread, thread->tid);
  }
  pthread_mutex_unlock(&sp_threads.lock);
}

void sp_threads_resume(void) {
  uint32_t i;

  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.paused = false;
  /* The program may have paused sampling in order to reset every signal to its
   * default action, so install the handler again. */
  if (sp_threads.sampling && sp_signal_default(sp_threads.session_signal))
    (void)sp_signal_install(sp_threads.session_signal, sp_capture_signal);
  sp_threads.began_ticks = sp_thread_clock();
  sp_threads.beginning = true;
  for (i = 1; sp_threads.sampling && i < sp_threads.record_count; i++) {
    const sp_thread *thread = sp_thread_at(i);

    /* If this fails for a thread, the next scan tries again. */
    if (thread->tid != 0)
      (void)sp_thread_enrol_locked(thread->tid, NULL);
  }
  sp_threads.beginning = false;
  pthread_mutex_unlock(&sp_threads.lock);
}
