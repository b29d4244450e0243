/* The threads of the process. Each has a record and, while a session samples, a
 * timer.
 *
 * Protocol: records live in chunks that are never unmapped, so that a late
 * signal always finds its record. `sp_threads.lock` guards the table. The
 * signal handler takes no lock and reads only the fields below the comment "The
 * handler reads these fields" and those that it writes. A thread registers
 * itself at once (through its sp_self, see label/context.h), or the collector's
 * scan finds it. A registered thread removes its own record when it ends; the
 * scan removes the records of other threads that have ended. An attached thread
 * without a record is found by its thread id. The lock is acquired before the
 * lock of the list of sp_self records.
 *
 * A thread's ticks are fixed points of its CPU clock: `armed_cpu_ns +
 * first_ns`, then one per interval. The handler takes a sample for the ticks
 * that its timer reports. All other ticks are recorded without a stack
 * (capture.h): those before the timer was set, those of a thread that blocks
 * the signal or has no timer, and the last ones. If a thread did not register,
 * its CPU time after its last tick may be lost, or all of it if the thread ends
 * before a scan finds it. */
#ifndef SP_THREAD_TABLE_H
#define SP_THREAD_TABLE_H

#include "label/context.h"
#include "sampler/handler/timer.h"

typedef struct sp_thread {
  /* These fields do not change while the thread is enrolled. */
  uint32_t index;
  _Atomic int tid; /* 0: the record is free */
  sp_timer timer;
  /* The thread's CPU clock when its profiling starts, and the length of its
   * first interval (0: not set, because the thread has had no timer yet). */
  uint64_t armed_cpu_ns;
  uint64_t first_ns;

  /* The handler reads these fields. */
  _Atomic bool active;
  _Atomic(sp_self *) self;
  /* Bounds of the thread's stack; both are 0 if unknown. */
  _Atomic uint64_t stack_low;
  _Atomic uint64_t stack_high;
  /* The thread blocks spanprof's signal; the handler resets this. */
  _Atomic bool blocked;

  /* The handler writes these fields, and so does the thread that sets the
   * timer. */
  _Atomic uint64_t samples;
  _Atomic uint64_t ticks;
  /* `ticks_ahead` counts ticks that are recorded already, but whose signal has
   * not been delivered yet. `ticks_rejected` counts delivered ticks that the
   * full ring rejected, and that are not recorded yet. Both are written in the
   * handler and by the scan. */
  _Atomic uint64_t ticks_ahead;
  _Atomic uint64_t ticks_rejected;
  /* The handler writes these fields. */
  _Atomic uint64_t seen_sp; /* stack pointer of a sample on an unknown stack */
  _Atomic uint64_t seen_tp;

  /* Guarded by `sp_threads.lock`. */
  uint32_t pass; /* number of the last scan that found the thread */
  /* Number of the scan during or after which the thread was enrolled. */
  uint32_t enrolled_pass;
  bool excluded; /* not sampled, because the program requested this */
  bool mask_read;
  /* The last reading of the signal mask showed that the thread blocks the
   * signal; the next reading must confirm this. */
  bool mask_unconfirmed;
  /* The log has reported that the thread blocks the signal. */
  bool blocked_logged;
  bool stack_final; /* do not look up the stack again */
  uint64_t checked_cpu_ns;
  uint64_t checked_samples;
  uint32_t next_free;
} sp_thread;

/* A tick is late if the thread has used this much CPU time since it expired.
 * The kernel checks the timers of the running thread at each tick of its own,
 * every 10 ms or more often (CONFIG_HZ). It may notice an expired timer much
 * later: a thread that constantly reads its own CPU clock while another thread
 * competes for the processor is descheduled just before each tick (benchmark
 * late_ticks). */
#define SP_THREAD_LATE_NS (20 * SP_NS_PER_MS)

/* The time on the thread's CPU clock at which the first undelivered tick
 * expires. */
static inline uint64_t sp_thread_due_ns(const sp_thread *thread,
                                        uint64_t interval_ns) {
  return thread->armed_cpu_ns + thread->first_ns +
         atomic_load(&thread->ticks) * interval_ns;
}

/* The number of undelivered ticks that had expired at `cpu_ns` of the thread's
 * CPU clock. */
static inline uint64_t sp_thread_ticks_due(const sp_thread *thread,
                                           uint64_t interval_ns,
                                           uint64_t cpu_ns) {
  const uint64_t due_ns = sp_thread_due_ns(thread, interval_ns);

  return cpu_ns < due_ns ? 0 : 1 + (cpu_ns - due_ns) / interval_ns;
}

/* Start sampling: every thread gets a timer, or, if `registered_only` is set,
 * only those that register. */
spanprof_status sp_threads_start(const sp_timer_base *base, int signal_number,
                                 bool registered_only);

/* Pause sampling: delete all timers, also in forked children. Resume sampling:
 * set them again. During the pause, threads are enrolled and removed as usual.
 * Both functions are idempotent. */
void sp_threads_pause(void);
void sp_threads_resume(void);

/* Stop sampling: delete all timers. Afterwards, no handler finds an active
 * record. */
void sp_threads_stop(void);

/* The record with this index, or NULL. */
SP_HANDLER_CODE sp_thread *sp_thread_at(uint32_t index);

/* Enrol a thread of the process; `self` may be NULL. Idempotent. Returns
 * SPANPROF_ERR_LIMIT if no timer is available (each scan tries again),
 * SPANPROF_ERR_STATE if sampling is off or the thread is ending, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_thread_enrol(int tid, sp_self *self);

/* Called around a fork. In the child, only the calling thread keeps a record;
 * `resume` sets a new timer for it. */
void sp_threads_before_fork(void);
void sp_threads_after_fork_parent(void);
void sp_threads_after_fork_child(bool resume);

#endif
