/* The threads of the process: a record, and while a session samples a timer,
 * for each.
 *
 * Protocol: records live in slabs that are never unmapped, so that a late
 * signal finds one whatever happened. `lock` guards the table; the signal
 * handler takes no lock and reads only what is marked so. A thread registers
 * itself at once (through its sp_self), or the collector's scan finds it. A
 * registered thread removes its own record when it ends; a record of a thread
 * that vanished otherwise is removed by the scan. A thread that is attached
 * without a record is found by its number: `lock` is taken before the lock of
 * the selves.
 *
 * The ticks of a thread are fixed points of its CPU clock: `armed_cpu_ns +
 * first_ns`, then every interval. The handler samples the ticks that its timer
 * reports. The others are booked without a stack (capture.h): those before the
 * timer was set, those of a thread that blocks the signal or has no timer, and
 * the last ones. For a thread that did not register, CPU time after its last
 * tick may be lost, or all of it if the thread ends before a scan finds it. */
#ifndef SP_THREAD_TABLE_H
#define SP_THREAD_TABLE_H

#include "label/context.h"
#include "sampler/handler/timer.h"

typedef struct sp_thread {
  /* Fixed while enrolled. */
  uint32_t index;
  _Atomic int tid; /* 0: a free record */
  sp_timer timer;
  /* The thread's CPU clock when profiling of it starts, and the length of its
   * first interval (0: not set, as the thread has had no timer yet). */
  uint64_t armed_cpu_ns;
  uint64_t first_ns;

  /* Read in the handler. */
  _Atomic bool active;
  _Atomic(sp_self *) self;
  _Atomic uint64_t stack_low; /* both 0: not known */
  _Atomic uint64_t stack_high;
  _Atomic bool blocked; /* our signal was in its mask; cleared in the handler */

  /* Written in the handler, and by the thread that sets the timer. */
  _Atomic uint64_t samples;
  _Atomic uint64_t ticks;
  /* Ticks that are booked already but will still be delivered; delivered ticks
   * that are not in the ring yet, because it was full. Written in the handler
   * and by the scan. */
  _Atomic uint64_t ticks_ahead;
  _Atomic uint64_t ticks_rejected;
  /* Written in the handler. */
  _Atomic uint64_t seen_sp; /* where the stack was not known */
  _Atomic uint64_t seen_tp;

  /* Guarded by the table's lock. */
  uint32_t pass;          /* the last scan that saw it */
  uint32_t enrolled_pass; /* the scan it was enrolled in or after */
  bool excluded;          /* never sampled, but a thread of the program */
  bool mask_read;
  bool mask_doubted; /* read once as blocking our signal */
  bool blocked_told; /* it has been logged */
  bool stack_final;  /* its stack is not looked up, or not again */
  uint64_t checked_cpu_ns;
  uint64_t checked_samples;
  uint32_t next_free;
} sp_thread;

/* A tick of our timers is late when the thread has used so much since: the
 * kernel finds out what expired when it ticks in the thread, every 10 ms at the
 * least (CONFIG_HZ), and long after where it never does. So it is where the
 * thread asks for its own CPU time all the while beside another that wants the
 * processor: it loses it just before each tick (the benchmark late_ticks). */
#define SP_THREAD_LATE_NS (20 * SP_NS_PER_MS)

/* When the first tick of those that were not delivered expires, by the thread's
 * CPU clock. */
static inline uint64_t sp_thread_due_ns(const sp_thread *thread,
                                        uint64_t interval_ns) {
  return thread->armed_cpu_ns + thread->first_ns +
         atomic_load(&thread->ticks) * interval_ns;
}

/* The number of these ticks that had expired at `cpu_ns` of the thread's clock.
 */
static inline uint64_t sp_thread_ticks_due(const sp_thread *thread,
                                           uint64_t interval_ns,
                                           uint64_t cpu_ns) {
  const uint64_t due_ns = sp_thread_due_ns(thread, interval_ns);

  return cpu_ns < due_ns ? 0 : 1 + (cpu_ns - due_ns) / interval_ns;
}

/* Give every thread a timer from now on, or those that register. */
spanprof_status sp_threads_start(const sp_timer_base *base, int signal_number,
                                 bool registered_only);

/* Take all timers away while sampling goes on, also in forked children, and
 * give them back. Threads come and go meanwhile as ever. Idempotent. */
void sp_threads_pause(void);
void sp_threads_resume(void);

/* Delete all timers; no handler sees an active record afterwards. */
void sp_threads_stop(void);

/* The record with that index, or NULL. */
SP_HANDLER_CODE sp_thread *sp_thread_at(uint32_t index);

/* Enrol a thread of the process, of which `self` may be NULL. Idempotent.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT (no timer to be had; tried again by
 * each scan). SPANPROF_ERR_STATE: nothing samples, or the thread is ending. */
spanprof_status sp_thread_enrol(int tid, sp_self *self);

/* Fork: as for the label room. In the child every record but the calling
 * thread's is gone; `resume` gives that one a new timer. */
void sp_threads_before_fork(void);
void sp_threads_after_fork_parent(void);
void sp_threads_after_fork_child(bool resume);

#endif
