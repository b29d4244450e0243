/* Helpers that use CPU time of the calling thread, and that count threads. */
#ifndef BURN_H
#define BURN_H

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline double clock_s(clockid_t clock) {
  return (double)clock_ns(clock) / 1e9;
}

/* Use CPU time of the calling thread, measured by the thread's clock. The clock
 * is read rarely, because a thread beyond its time slice loses the processor
 * when it reads the clock, just before the tick that would have sampled it
 * (bench/core/late_ticks.c). Between two readings, the remaining time is
 * measured by the monotonic clock, which needs no system call and advances at
 * least as fast. */
__attribute__((noinline, unused)) static void burn_cpu_ns(uint64_t ns) {
  const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  uint64_t now;

  while ((now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) < until) {
    const uint64_t end = clock_ns(CLOCK_MONOTONIC) + (until - now);

    while (clock_ns(CLOCK_MONOTONIC) < end)
      ;
  }
}

static _Atomic uint64_t burn_tick_ns;

static inline void burn_see_tick(int number) {
  (void)number;
  atomic_store(&burn_tick_ns, clock_ns(CLOCK_MONOTONIC));
}

/* Find the time of the next kernel tick in the calling thread. The kernel ticks
 * only in the running thread. */
static inline uint64_t burn_find_tick(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                           .sigev_signo = SIGPROF};
  struct itimerspec when = {.it_value.tv_nsec = 1};
  cpu_set_t processor;
  timer_t timer;

  CPU_ZERO(&processor);
  CPU_SET((size_t)sched_getcpu(), &processor);
  CHECK_EQUAL(sched_setaffinity(0, sizeof processor, &processor), 0);
  signal(SIGPROF, burn_see_tick);
  atomic_store(&burn_tick_ns, 0);
  CHECK_EQUAL(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer), 0);
  CHECK_EQUAL(timer_settime(timer, 0, &when, NULL), 0);
  while (atomic_load(&burn_tick_ns) == 0)
    ;
  timer_delete(timer);
  return atomic_load(&burn_tick_ns);
}

/* Use `ns` of CPU time of the calling thread, but sleep during the kernel's
 * ticks, so that the kernel does not notice an expired CPU timer of the thread.
 * `tick` is the time of one tick (burn_find_tick()). This fails if another
 * thread on the processor changes the times. */
__attribute__((unused)) static void burn_between_ticks(uint64_t ns,
                                                       uint64_t tick) {
  const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  struct timespec period, wake;
  uint64_t period_ns;

  clock_getres(CLOCK_MONOTONIC_COARSE, &period);
  period_ns = (uint64_t)period.tv_nsec;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until) {
    tick += (clock_ns(CLOCK_MONOTONIC) - tick) / period_ns * period_ns;
    while (clock_ns(CLOCK_MONOTONIC) < tick + period_ns * 3 / 4)
      ;
    tick += period_ns;
    wake = (struct timespec){
        .tv_sec = (time_t)((tick + period_ns / 16) / 1000000000),
        .tv_nsec = (long)((tick + period_ns / 16) % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
  }
}

static inline void burn_cpu_ms(uint64_t ms) {
  burn_cpu_ns(ms * 1000000);
}

static inline void burn_cpu_s(double seconds) {
  burn_cpu_ns((uint64_t)(seconds * 1e9));
}

/* Return the number of threads of the process. */
static inline int tasks_count(void) {
  DIR *directory = opendir("/proc/self/task");
  int count = 0;

  CHECK(directory != NULL);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2;
}

/* Wait until the kernel lists at most `count` threads. It lists a thread for a
 * while after its join. */
static inline bool tasks_fall_to(int count) {
  int tries;

  for (tries = 0; tries < 1000 && tasks_count() > count; tries++)
    usleep(10000);
  return tasks_count() <= count;
}

#endif
