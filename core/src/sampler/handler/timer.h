/* POSIX timers on threads' CPU clocks. Any thread can create one; its signal
 * goes to the thread to which the clock belongs. */
#ifndef SP_TIMER_H
#define SP_TIMER_H

#include "util/base.h"

/* The clock of the timers: the thread's CPU clock. For stress tests that need
 * more signals than the kernel's tick allows, SPANPROF_TEST_WALL_HZ=1000
 * selects the monotonic clock at 1000 Hz. With SPANPROF_TEST_WALL_HZ=1000r,
 * only the timers of registered threads use the monotonic clock, because a
 * thread of the runtime may wait with a timeout, and a wait that is interrupted
 * all the time may never time out (Ruby 3.3's thread that ends time slices). */
typedef struct sp_timer_base {
  bool wall;
  bool wall_registered;
  uint64_t interval_ns;
} sp_timer_base;

void sp_timer_base_init(sp_timer_base *base, uint32_t sample_rate_hz);

/* The kernel's id of a timer. */
typedef int sp_timer;

#define SP_TIMER_NONE (-1)

typedef enum sp_timer_state {
  SP_TIMER_ARMED,
  SP_TIMER_DEAD /* the timer's thread has ended */
} sp_timer_state;

/* Create a timer of the thread `tid` that sends `signal_number` with `value`,
 * first after `first_ns` (> 0), then after each interval. Returns 0 or an
 * errno: EAGAIN if RLIMIT_SIGPENDING is reached, EINVAL if the thread has
 * ended. */
int sp_timer_start(sp_timer *out, const sp_timer_base *base, int tid,
                   int signal_number, uint64_t value, uint64_t first_ns);
void sp_timer_stop(sp_timer timer);
sp_timer_state sp_timer_check(sp_timer timer);

/* Make a timer send its signal now. It expired at `due_ns` (> 0) of its
 * thread's clock, but the kernel may not have noticed this yet. If the kernel
 * has noticed it, this does nothing. */
void sp_timer_fire(sp_timer timer, const sp_timer_base *base, uint64_t due_ns);

/* The CPU time that the thread `tid` has used, or 0 if it has ended. */
uint64_t sp_timer_thread_cpu_ns(int tid);

/* Test whether the kernel delivers CPU timers here. If it does, the test uses
 * some 4 ms of CPU time on the calling thread (CONFIG_HZ 250), otherwise 1 s;
 * after 2 s of wall time it ends without an error. The handler of
 * sp_signal_install() must be installed. Returns SPANPROF_ERR_SYSTEM and sets a
 * message if the timers do not work. */
spanprof_status sp_timer_probe(int signal_number);

#endif
