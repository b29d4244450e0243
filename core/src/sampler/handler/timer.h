/* One POSIX timer on one thread's CPU clock, made from any thread, whose signal
 * goes to that thread. */
#ifndef SP_TIMER_H
#define SP_TIMER_H

#include "util/base.h"

/* What timers run on: the thread's CPU clock; or, in stress tests that need
 * more signals than the kernel's tick gives, the monotonic clock at
 * SPANPROF_TEST_WALL_HZ. "1000r" is for registered threads only: a wait of the
 * runtime that is interrupted all the time may never time out (the thread in
 * Ruby 3.3 that ends time slices). */
typedef struct sp_timer_base {
  bool wall;
  bool wall_registered;
  uint64_t interval_ns;
} sp_timer_base;

void sp_timer_base_init(sp_timer_base *base, uint32_t sample_rate_hz);

/* The kernel's number of a timer. */
typedef int sp_timer;

#define SP_TIMER_NONE (-1)

typedef enum sp_timer_state {
  SP_TIMER_ARMED,
  SP_TIMER_DEAD /* its thread is gone */
} sp_timer_state;

/* Make a timer of the thread `tid` that sends `signal_number` with `value`,
 * first after `first_ns` (> 0), then every interval. Returns an errno: EAGAIN
 * where RLIMIT_SIGPENDING is reached, EINVAL where the thread is gone. */
int sp_timer_start(sp_timer *out, const sp_timer_base *base, int tid,
                   int signal_number, uint64_t value, uint64_t first_ns);
void sp_timer_stop(sp_timer timer);
sp_timer_state sp_timer_check(sp_timer timer);

/* Have a timer that expired at `due_ns` (> 0) of its thread's clock, which no
 * tick of the kernel has found out yet, send its signal now. Nothing is done
 * where a tick was faster. */
void sp_timer_fire(sp_timer timer, const sp_timer_base *base, uint64_t due_ns);

/* CPU time the thread `tid` has used; 0 where it is gone. */
uint64_t sp_timer_thread_cpu_ns(int tid);

/* Test whether the kernel delivers CPU timers here. If it does, this takes some
 * 4 ms of CPU time on the calling thread (CONFIG_HZ 250), otherwise up to 1 s.
 * The handler of sp_signal_install() must be in place. SPANPROF_ERR_SYSTEM: the
 * timers do not work, and the sentence says why. */
spanprof_status sp_timer_probe(int signal_number);

#endif
