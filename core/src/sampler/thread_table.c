#include "thread_table.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "capture.h"
#include "sampler/handler/signal.h"
#include "sampler/handler/stack_top.h"
#include "thread_arming.h"
#include "thread_record.h"
#include "thread_status.h"
#include "util/system/clock.h"
#include "util/system/counters.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

static void table_lock(void) {
  pthread_mutex_lock(&sp_threads.lock);
}

static void table_unlock(void) {
  pthread_mutex_unlock(&sp_threads.lock);
}

/* Read the stack bounds of the calling thread into its record. This allocates
 * memory. */
static void stack_read(sp_thread *thread) {
  const uint64_t tp = (uint64_t)(uintptr_t)__builtin_thread_pointer();
  pthread_attr_t attributes;
  uint64_t low, high;
  void *start;
  size_t size;

  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
    low = (uint64_t)(uintptr_t)start;
    high = low + size;
    /* If RLIMIT_STACK is unlimited, pthread_getattr_np() reports that the main
     * thread's stack begins at the end of the previous mapping (glibc 2.36). A
     * heap and unmapped pages may be between the two, so only the last part of
     * this range counts as stack. */
    if ((tp < low || tp >= high) && size > SP_STACK_BYTES_MAX)
      low = high - SP_STACK_BYTES_MAX;
    thread->stack_final = true;
    atomic_store(&thread->stack_low, low);
    atomic_store(&thread->stack_high, sp_stack_top(tp, low, high));
  }
  pthread_attr_destroy(&attributes);
}

void sp_thread_remove(sp_thread *thread) {
  sp_self *self = atomic_load(&thread->self);

  sp_thread_disarm(thread);
  sp_thread_book_rejected(thread, true);
  if (self)
    self->thread = NULL;
  atomic_store(&thread->self, NULL);
  if (thread->excluded)
    sp_threads.excluded_count--;
  sp_thread_release(thread);
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
  st = sp_thread_arm(thread);
  /* Timers must not send a signal now: see sp_threads_signal_update(). */
  if (st == SPANPROF_ERR_UNSUPPORTED)
    return SPANPROF_ERR_STATE;
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
  if (sp_threads.sampling && (self || !sp_threads.registered_only)) {
    st = sp_thread_enrol_locked(tid, self);
    if (self && self->thread && tid == tid_own())
      stack_read(self->thread);
  }
  table_unlock();
  if (st == SPANPROF_ERR_LIMIT)
    return sp_fail(st,
                   "there is no timer for the thread: spanprof uses at most "
                   "half of RLIMIT_SIGPENDING; raise this limit (ulimit -i)");
  return st;
}

static void self_attached(sp_self *self) {
  sp_thread_enrol(self->tid, self);
}

/* Called on the thread of the record while it blocks spanprof's signal. */
static void record_end(sp_thread *thread) {
  sp_thread_disarm(thread);
  sp_thread_book_end(thread, 0);
  sp_thread_remove(thread);
}

/* Runs on the ending thread. spanprof's signal stays blocked, so that it does
 * not interrupt the remaining life of the thread. */
static void self_ending(sp_self *self) {
  sigset_t mask;

  table_lock();
  if (self->thread) {
    sp_signal_block(sp_threads.signal_number, &mask);
    record_end(self->thread);
  }
  table_unlock();
}

static const sp_self_hooks table_hooks = {.attached = self_attached,
                                          .ending = self_ending};

/* Unblock spanprof's signal in the calling thread, because a thread that
 * registers is to be profiled. Servers block every signal on the threads that
 * they create for requests. */
static void signal_unblock(sp_self *self) {
  sigset_t ours;

  sigemptyset(&ours);
  table_lock();
  self->unblocked_signal = sp_threads.sampling ? sp_threads.session_signal : 0;
  sigaddset(&ours, sp_threads.signal_number);
  table_unlock();
  if (self->unblocked_signal == 0)
    return;
  sigaddset(&ours, self->unblocked_signal);
  pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

spanprof_status spanprof_thread_register(void) {
  sp_self *self = sp_self_attach();
  spanprof_status st = SPANPROF_OK;

  if (!self)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory to register a thread");
  if (self->thread && self->unblocked_signal != 0)
    return SPANPROF_OK;
  if (!self->thread)
    st = sp_thread_enrol(self->tid, self);
  signal_unblock(self);
  return st == SPANPROF_ERR_STATE ? SPANPROF_OK : st;
}

void spanprof_thread_unregister(void) {
  sp_self *self = sp_self_current();
  sigset_t mask;
  int number;

  if (!self)
    return;
  table_lock();
  number = sp_threads.signal_number;
  if (self->thread) {
    sp_signal_block(number, &mask);
    record_end(self->thread);
    sp_signal_restore(number, &mask);
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
    sp_signal_block(sp_threads.signal_number, &mask);
    sp_thread_disarm(thread);
    if (self)
      sp_thread_link(thread, self);
    sp_thread_book_end(thread, 0);
    thread->first_ns = 0;
    sp_signal_restore(sp_threads.signal_number, &mask);
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

  /* The thread's end must be reported even if no session ever ran. */
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

/* Enrol a thread. If it is not the calling thread, its stack is unknown until
 * it calls spanprof. */
static void self_enrol(sp_self *self) {
  sp_thread_enrol_locked(self->tid, self);
}

spanprof_status sp_threads_start(const sp_timer_base *base, int signal_number,
                                 bool registered_only) {
  sp_self_hooks_set(&table_hooks);
  table_lock();
  sp_threads.registered_only = registered_only;
  sp_threads.paused = false;
  sp_threads.base = *base;
  sp_threads.session_signal = signal_number;
  sp_threads.signal_number = signal_number;
  sp_threads.young_until_ns = 0;
  sp_threads.timers_max = sp_timers_allowed();
  sp_threads.sampling = true;
  sp_threads.began_ticks = sp_thread_clock();
  sp_threads.beginning = true;
  sp_self_each(self_enrol);
  sp_threads.beginning = false;
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
    sp_thread_retire(thread);
    /* When sampling starts again, the thread id may belong to another
     * thread. */
    if (!atomic_load(&thread->self) && !thread->excluded)
      sp_thread_clear(thread, thread->tid);
  }
  table_unlock();
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
  /* A child does not inherit timers (timer_create(2)), so there are none to
   * delete. */
  sp_threads.timer_count = 0;
  sp_threads.excluded_count = 0;
  sp_threads.random = 0;
  sp_threads.began_ticks = 0;
  sp_index_dispose(&sp_threads.by_tid, &sp_mem_default);
  for (i = 1; i < sp_threads.record_count; i++) {
    sp_thread *thread = sp_thread_at(i);

    atomic_store(&thread->active, false);
    thread->timer = SP_TIMER_NONE;
    if (thread->tid != 0)
      sp_thread_release(thread);
  }
  if (self) {
    self->tid = tid_own();
    self->thread = NULL;
  }
  sp_threads.sampling = resume;
  sp_threads.young_until_ns = sp_monotonic_ns() + SP_THREAD_YOUNG_NS;
  /* If the program uses SP_THREAD_YOUNG_SIGNAL, sampling in the child starts
   * when the child is no longer young. */
  sp_threads.signal_number =
      resume && sp_signal_try_install(SP_THREAD_YOUNG_SIGNAL, sp_capture_signal)
          ? SP_THREAD_YOUNG_SIGNAL
          : 0;
  table_unlock();
  if (resume)
    sp_thread_enrol(tid_own(), self);
}
