#include "thread_arming.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../util/hash.h"
#include "capture.h"
#include "signal.h"
#include "thread_record.h"

/* A number in (0, limit]: threads that live shorter than an interval are then
 * sampled as often as their share of it asks. */
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

spanprof_status sp_thread_arm(sp_thread *thread) {
  sp_timer_base base = sp_threads.base;
  int error;

  if (sp_threads.paused)
    return SPANPROF_OK;
  if (sp_threads.timer_count >= sp_threads.timers_max)
    return SPANPROF_ERR_LIMIT;
  if (sp_threads.signal_number == 0 ||
      sp_signal_default(sp_threads.signal_number))
    return SPANPROF_ERR_STATE;
  thread->first_ns = random_up_to(sp_threads.base.interval_ns);
  atomic_store(&thread->samples, 0);
  atomic_store(&thread->ticks, 0);
  thread->armed_cpu_ns = sp_timer_thread_cpu_ns(thread->tid);
  atomic_store_explicit(&thread->active, true, memory_order_release);
  if (base.wall_registered && !atomic_load(&thread->self))
    base.wall = false;
  error = sp_timer_start(&thread->timer, &base, thread->tid,
                         sp_threads.signal_number,
                         sp_signal_value(thread->index), thread->first_ns);
  if (error) {
    atomic_store(&thread->active, false);
    /* Linux 6.1: EINVAL by timer_create(2) where the thread is gone, ESRCH by
     * timer_settime(2) where it exits. */
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

void sp_thread_retire(sp_thread *thread) {
  const bool timed = thread->timer != SP_TIMER_NONE;
  sigset_t mask;

  if (!timed || thread->tid != (int)syscall(SYS_gettid)) {
    sp_thread_disarm(thread);
    return;
  }
  sp_signal_hold(sp_threads.signal_number, &mask);
  sp_thread_disarm(thread);
  sp_capture_book_end(thread, SP_THREAD_LATE_NS);
  sp_signal_release(sp_threads.signal_number, &mask);
}

static void timers_drop(void) {
  uint32_t i;

  for (i = 1; i < sp_threads.record_count; i++)
    sp_thread_disarm(sp_thread_at(i));
}

void sp_threads_signal_look(void) {
  const bool young = sp_threads.young_until_ns != 0;

  if (young && sp_monotonic_ns() >= sp_threads.young_until_ns) {
    timers_drop();
    sp_threads.young_until_ns = 0;
    sp_threads.signal_number = sp_threads.session_signal;
  } else if (young && sp_threads.signal_number != 0 &&
             !sp_signal_borrow(SP_THREAD_YOUNG_SIGNAL, sp_capture_signal)) {
    /* The child has its own use for it now, or none for any. */
    timers_drop();
    sp_threads.signal_number = 0;
  } else if (sp_signal_default(sp_threads.signal_number)) {
    timers_drop();
  }
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
    /* The number may belong to another thread when sampling goes on. */
    if (!atomic_load(&thread->self) && !thread->excluded)
      sp_thread_clear(thread, thread->tid);
  }
  pthread_mutex_unlock(&sp_threads.lock);
}

void sp_threads_resume(void) {
  uint32_t i;

  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.paused = false;
  for (i = 1; sp_threads.sampling && i < sp_threads.record_count; i++) {
    const sp_thread *thread = sp_thread_at(i);

    /* One that is refused now is tried again by each scan. */
    if (thread->tid != 0)
      (void)sp_thread_enrol_locked(thread->tid, NULL);
  }
  pthread_mutex_unlock(&sp_threads.lock);
}
