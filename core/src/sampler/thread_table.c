#include "thread_table.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../util/clock.h"
#include "../util/counters.h"
#include "../util/hash.h"
#include "../util/own_thread.h"
#include "../util/status.h"
#include "capture.h"
#include "signal.h"
#include "stack_top.h"
#include "thread_record.h"

static void table_lock(void) {
  pthread_mutex_lock(&sp_threads.lock);
}

static void table_unlock(void) {
  pthread_mutex_unlock(&sp_threads.lock);
}

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

/* Each timer keeps one queued signal of RLIMIT_SIGPENDING; half of it is left
 * to the program. */
static uint32_t timers_allowed(void) {
  struct rlimit limit;

  if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / 2 > UINT32_MAX)
    return UINT32_MAX;
  return (uint32_t)(limit.rlim_cur / 2);
}

/* The stack of the calling thread, whose record this is. Allocates. */
static void stack_read(sp_thread *thread) {
  pthread_attr_t attributes;
  void *low;
  size_t size;

  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    atomic_store(&thread->stack_low, (uint64_t)(uintptr_t)low);
    atomic_store(&thread->stack_high,
                 sp_stack_top((uint64_t)(uintptr_t)__builtin_thread_pointer(),
                              (uint64_t)(uintptr_t)low,
                              (uint64_t)(uintptr_t)low + size));
  }
  pthread_attr_destroy(&attributes);
}

/* Set the timer of a record that has none. SPANPROF_ERR_STATE: the thread is
 * ending, or the process has prepared itself for another program. */
static spanprof_status thread_arm(sp_thread *thread) {
  sp_timer_base base = sp_threads.base;
  int error;

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

void sp_thread_remove(sp_thread *thread) {
  sp_self *self = atomic_load(&thread->self);

  sp_thread_disarm(thread);
  if (self)
    self->thread = NULL;
  atomic_store(&thread->self, NULL);
  if (thread->excluded)
    sp_threads.excluded_count--;
  sp_thread_give(thread);
}

spanprof_status sp_thread_enrol_locked(int tid, sp_self *self) {
  sp_thread *thread;
  spanprof_status st;
  bool fresh;

  if (sp_own_thread_is(tid))
    return SPANPROF_ERR_STATE;
  thread = sp_thread_record(tid, &fresh);
  if (!thread)
    return SPANPROF_ERR_NOMEM;
  if (self)
    sp_thread_link(thread, self);
  else if (fresh)
    sp_threads.unlinked = true;
  if (thread->excluded)
    return SPANPROF_ERR_STATE;
  if (thread->timer != SP_TIMER_NONE)
    return SPANPROF_OK;
  st = thread_arm(thread);
  if (st == SPANPROF_ERR_STATE)
    sp_thread_remove(thread);
  else if (fresh)
    sp_count(&sp_counts.threads_seen, 1);
  return st;
}

static int tid_own(void) {
  return (int)syscall(SYS_gettid);
}

spanprof_status sp_thread_enrol(int tid, sp_self *self) {
  spanprof_status st = SPANPROF_ERR_STATE;

  table_lock();
  if (sp_threads.sampling) {
    st = sp_thread_enrol_locked(tid, self);
    if (self && self->thread && tid == tid_own())
      stack_read(self->thread);
  }
  table_unlock();
  if (st == SPANPROF_ERR_LIMIT)
    return sp_fail(st, "no timer could be had for the thread: half of "
                       "RLIMIT_SIGPENDING is in use");
  return st;
}

static void self_attached(sp_self *self) {
  sp_thread_enrol(self->tid, self);
}

/* Runs on the ending thread. The signal stays held: nothing of ours may land on
 * what is left of the thread's life. */
static void self_ending(sp_self *self) {
  sigset_t mask;
  sp_thread *thread;

  table_lock();
  thread = self->thread;
  if (thread) {
    sp_signal_hold(sp_threads.signal_number, &mask);
    sp_thread_disarm(thread);
    sp_capture_book_end(thread);
    sp_thread_remove(thread);
  }
  table_unlock();
}

static const sp_self_hooks table_hooks = {.attached = self_attached,
                                          .ending = self_ending};

/* Servers block every signal on the threads they make for requests; one that
 * registers is to be profiled. */
static void signal_open(sp_self *self) {
  sigset_t ours;

  sigemptyset(&ours);
  table_lock();
  self->signal_open = sp_threads.sampling ? sp_threads.session_signal : 0;
  sigaddset(&ours, sp_threads.signal_number);
  table_unlock();
  if (self->signal_open == 0)
    return;
  sigaddset(&ours, self->signal_open);
  pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

spanprof_status spanprof_thread_register(void) {
  sp_self *self = sp_self_attach();
  spanprof_status st = SPANPROF_OK;

  if (!self)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to register a thread");
  if (self->thread && self->signal_open != 0)
    return SPANPROF_OK;
  if (!self->thread)
    st = sp_thread_enrol(self->tid, self);
  signal_open(self);
  return st == SPANPROF_ERR_STATE ? SPANPROF_OK : st;
}

void spanprof_thread_unregister(void) {
  sp_self *self = sp_self_current();
  sigset_t mask;
  sp_thread *thread;
  int number;

  if (!self)
    return;
  table_lock();
  thread = self->thread;
  number = sp_threads.signal_number;
  if (thread) {
    sp_signal_hold(number, &mask);
    sp_thread_disarm(thread);
    sp_capture_book_end(thread);
    sp_thread_remove(thread);
    sp_signal_release(number, &mask);
  }
  table_unlock();
}

static void thread_exclude(sp_self *self) {
  sp_thread *thread;
  sigset_t mask;
  bool fresh;

  table_lock();
  thread = sp_thread_record(tid_own(), &fresh);
  if (thread && !thread->excluded) {
    sp_signal_hold(sp_threads.signal_number, &mask);
    sp_thread_disarm(thread);
    sp_signal_release(sp_threads.signal_number, &mask);
    if (self)
      sp_thread_link(thread, self);
    thread->excluded = true;
    sp_threads.excluded_count++;
  }
  table_unlock();
}

static void thread_include(sp_self *self) {
  sp_thread *thread;

  table_lock();
  thread = sp_thread_find(tid_own());
  if (thread && thread->excluded)
    sp_thread_remove(thread);
  table_unlock();
  sp_thread_enrol(tid_own(), self);
}

void spanprof_thread_exclude(int excluded) {
  sp_self *self;

  /* Its end is to be told, also where no session ever ran. */
  sp_self_hooks_set(&table_hooks);
  self = sp_self_attach();
  if (excluded)
    thread_exclude(self);
  else
    thread_include(self);
}

spanprof_status spanprof_thread_set_data(void *thread_data) {
  spanprof_status st = spanprof_thread_register();
  sp_self *self = sp_self_current();

  if (self)
    atomic_store_explicit(&self->thread_data, thread_data,
                          memory_order_release);
  return st;
}

/* Another thread's stack is not known from outside; it is asked for when that
 * thread calls. */
static void self_enrol(sp_self *self) {
  sp_thread_enrol_locked(self->tid, self);
}

spanprof_status sp_threads_start(const sp_timer_base *base, int signal_number) {
  sp_self_hooks_set(&table_hooks);
  table_lock();
  sp_threads.base = *base;
  sp_threads.session_signal = signal_number;
  sp_threads.signal_number = signal_number;
  sp_threads.young_until_ns = 0;
  sp_threads.timers_max = timers_allowed();
  sp_threads.sampling = true;
  sp_self_each(self_enrol);
  table_unlock();
  return SPANPROF_OK;
}

void sp_threads_stop(void) {
  uint32_t i;

  table_lock();
  sp_threads.sampling = false;
  for (i = 1; i < sp_threads.record_count; i++) {
    sp_thread *thread = sp_thread_at(i);

    if (thread->tid == 0)
      continue;
    sp_thread_disarm(thread);
    /* The number may belong to another thread when sampling starts again. */
    if (!atomic_load(&thread->self) && !thread->excluded)
      sp_thread_clear(thread, thread->tid);
  }
  table_unlock();
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

void sp_threads_before_fork(void) {
  table_lock();
}

void sp_threads_after_fork_parent(void) {
  table_unlock();
}

void sp_threads_after_fork_child(bool resume) {
  sp_self *self = sp_self_current();
  uint32_t i;

  pthread_mutex_init(&sp_threads.lock, NULL);
  table_lock();
  /* Timers are not inherited (timer_create(2)): there is none to delete. */
  sp_threads.timer_count = 0;
  sp_threads.excluded_count = 0;
  sp_threads.random = 0;
  sp_index_dispose(&sp_threads.by_tid, &sp_mem_default);
  for (i = 1; i < sp_threads.record_count; i++) {
    sp_thread *thread = sp_thread_at(i);

    atomic_store(&thread->active, false);
    thread->timer = SP_TIMER_NONE;
    if (thread->tid != 0)
      sp_thread_give(thread);
  }
  if (self) {
    self->tid = tid_own();
    self->thread = NULL;
  }
  sp_threads.sampling = resume;
  sp_threads.young_until_ns = sp_monotonic_ns() + SP_THREAD_YOUNG_NS;
  /* Where it is the program's, the child is sampled from when it is grown. */
  sp_threads.signal_number =
      resume && sp_signal_borrow(SP_THREAD_YOUNG_SIGNAL, sp_capture_signal)
          ? SP_THREAD_YOUNG_SIGNAL
          : 0;
  table_unlock();
  if (resume)
    sp_thread_enrol(tid_own(), self);
}
