#include "timer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "signal.h"
#include "util/system/clock.h"
#include "util/system/status.h"
#include "util/system/test_variable.h"
#include "util/text/number.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* CPU time and wall time after which sp_timer_probe() gives up. A virtual
 * machine on a busy host may have no ticks for a while. */
#define TIMER_PROBE_CPU_NS  (1 * SP_NS_PER_S)
#define TIMER_PROBE_WALL_NS (2 * SP_NS_PER_S)

/* The clock id of a thread's CPU time: the inverted thread id, shifted left by
 * three, with CPUCLOCK_PERTHREAD_MASK (4) and CPUCLOCK_SCHED (2). Linux 6.1,
 * include/linux/posix-timers.h, make_thread_cpuclock(). */
static clockid_t thread_clock(int tid) {
  return (clockid_t)(~(unsigned)tid << 3 | 6);
}

void sp_timer_base_init(sp_timer_base *base, uint32_t sample_rate_hz) {
  const char *wall_hz = SP_TEST_VARIABLE("SPANPROF_TEST_WALL_HZ");
  uint64_t hz = 0;

  base->wall =
      wall_hz && !sp_number_read(&wall_hz, NULL, &hz) && hz >= 1 && hz <= 20000;
  base->wall_registered = base->wall && *wall_hz == 'r';
  base->interval_ns = SP_NS_PER_S / (base->wall ? hz : sample_rate_hz);
}

static struct timespec time_from_ns(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / SP_NS_PER_S),
                           .tv_nsec = (long)(ns % SP_NS_PER_S)};
}

int sp_timer_start(sp_timer *out, const sp_timer_base *base, int tid,
                   int signal_number, uint64_t value, uint64_t first_ns) {
  struct itimerspec when = {.it_interval = time_from_ns(base->interval_ns),
                            .it_value = time_from_ns(first_ns)};
  clockid_t id = base->wall ? CLOCK_MONOTONIC : thread_clock(tid);
  struct sigevent event;
  int timer, error;

  *out = SP_TIMER_NONE;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number;
  event.sigev_value.sival_ptr = (void *)(uintptr_t)value;
  event.sigev_notify_thread_id = tid;
  /* Use the system call directly: glibc's timer_create() rejects the clock of a
   * thread that it does not know. */
  if (syscall(SYS_timer_create, id, &event, &timer) != 0)
    return errno;
  if (syscall(SYS_timer_settime, timer, 0, &when, NULL) != 0) {
    error = errno;
    sp_timer_stop(timer);
    return error;
  }
  *out = timer;
  return 0;
}

void sp_timer_stop(sp_timer timer) {
  if (timer != SP_TIMER_NONE)
    syscall(SYS_timer_delete, timer);
}

sp_timer_state sp_timer_check(sp_timer timer) {
  struct itimerspec now;

  if (syscall(SYS_timer_gettime, timer, &now) != 0)
    return SP_TIMER_DEAD;
  /* The kernel reports a timer of an ended thread with value 0 and interval 0
   * (Linux 6.1, posix_cpu_timer_get()). */
  if (now.it_interval.tv_sec == 0 && now.it_interval.tv_nsec == 0)
    return SP_TIMER_DEAD;
  return SP_TIMER_ARMED;
}

/* Setting a timer to a past time makes it send its signal at once, with the
 * overruns since then. This is done only if the timer has expired but has not
 * sent its signal; the kernel then reports a remaining time of one nanosecond
 * (Linux 6.1, posix_cpu_timer_get() and posix_cpu_timer_set()). */
void sp_timer_fire(sp_timer timer, const sp_timer_base *base, uint64_t due_ns) {
  const struct itimerspec when = {.it_interval =
                                      time_from_ns(base->interval_ns),
                                  .it_value = time_from_ns(due_ns)};
  struct itimerspec now;

  if (syscall(SYS_timer_gettime, timer, &now) == 0 &&
      now.it_value.tv_sec == 0 && now.it_value.tv_nsec == 1)
    syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &when, NULL);
}

uint64_t sp_timer_thread_cpu_ns(int tid) {
  struct timespec now;

  if (clock_gettime(thread_clock(tid), &now) != 0)
    return 0;
  return (uint64_t)now.tv_sec * SP_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Use CPU time until a probe signal arrives, at most TIMER_PROBE_CPU_NS of CPU
 * time or TIMER_PROBE_WALL_NS of wall time. Returns true if the CPU time was
 * used up without a signal. The thread's CPU clock is read rarely, because a
 * thread that reads it at the end of its time slice is descheduled just before
 * the tick (benchmark late_ticks). Between these reads the loop uses the
 * monotonic clock, which needs no system call. The thread cannot use the
 * remaining CPU time in less wall time, so the loop does not read the CPU clock
 * too late. */
static bool probe_uses_up(uint64_t signals_before) {
  const uint64_t cpu_ns = sp_thread_cpu_ns();
  const uint64_t until_ns = sp_monotonic_ns() + TIMER_PROBE_WALL_NS;
  uint64_t used_ns = 0, read_ns, now_ns;

  do {
    read_ns = sp_monotonic_ns() + (TIMER_PROBE_CPU_NS - used_ns);
    do {
      if (sp_signal_probes() != signals_before)
        return false;
      now_ns = sp_monotonic_ns();
    } while (now_ns < read_ns && now_ns < until_ns);
    used_ns = sp_thread_cpu_ns() - cpu_ns;
  } while (now_ns < until_ns && used_ns < TIMER_PROBE_CPU_NS);
  return used_ns >= TIMER_PROBE_CPU_NS;
}

spanprof_status sp_timer_probe(int signal_number) {
  sp_timer_base base = {.interval_ns = SP_NS_PER_MS};
  uint64_t before = sp_signal_probes();
  sigset_t ours, mask;
  sp_timer timer;
  bool used_up = false;
  int error;

  sigemptyset(&ours);
  sigaddset(&ours, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &ours, &mask);
  error = sp_timer_start(&timer, &base, (int)syscall(SYS_gettid), signal_number,
                         sp_signal_value(SP_SIGNAL_PROBE), SP_NS_PER_MS);
  if (!error)
    used_up = probe_uses_up(before);
  if (!error)
    sp_timer_stop(timer);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (error)
    return sp_fail_errno(
        SPANPROF_ERR_SYSTEM, error,
        "the system refuses timer_create on a thread's CPU clock (in a "
        "sandbox, or because RLIMIT_SIGPENDING is reached)");
  /* Elapsed wall time alone proves nothing, because a busy machine may not have
   * run this thread. */
  if (used_up)
    return sp_fail(SPANPROF_ERR_SYSTEM,
                   "the kernel accepts CPU timers but delivers no signal %d "
                   "(a sandbox such as gVisor)",
                   signal_number);
  return SPANPROF_OK;
}
