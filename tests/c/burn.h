/* A thread's CPU time, and who else is there. */
#ifndef BURN_H
#define BURN_H

#include <dirent.h>
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

/* Burns CPU time of the calling thread, by its own clock, which is asked
 * seldom: a thread that is over its slice loses the processor when it asks,
 * just before the tick that would have sampled it (bench/core/late_ticks.c).
 * What is left takes at least as long by the other clock, which takes no system
 * call. */
__attribute__((noinline, unused)) static void burn_cpu_ns(uint64_t ns) {
  const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  uint64_t now;

  while ((now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) < until) {
    const uint64_t end = clock_ns(CLOCK_MONOTONIC) + (until - now);

    while (clock_ns(CLOCK_MONOTONIC) < end)
      ;
  }
}

static inline void burn_cpu_ms(uint64_t ms) {
  burn_cpu_ns(ms * 1000000);
}

static inline void burn_cpu_s(double seconds) {
  burn_cpu_ns((uint64_t)(seconds * 1e9));
}

/* Threads of the process. */
static inline int tasks_count(void) {
  DIR *directory = opendir("/proc/self/task");
  int count = 0;

  CHECK(directory != NULL);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2;
}

/* Whether there are no more than so many: a thread that was joined is listed
 * until the kernel is through with it. */
static inline bool tasks_fall_to(int count) {
  int tries;

  for (tries = 0; tries < 1000 && tasks_count() > count; tries++)
    usleep(10000);
  return tasks_count() <= count;
}

#endif
