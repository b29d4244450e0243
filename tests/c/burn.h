/* A thread's CPU time, and who else is there: for tests of sessions. */
#ifndef BURN_H
#define BURN_H

#include <dirent.h>
#include <stdint.h>
#include <time.h>

#include "check.h"

/* Of the calling thread, by its own clock. */
static inline uint64_t cpu_ms(void) {
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void burn_cpu_ms(uint64_t ms) {
  const uint64_t until = cpu_ms() + ms;

  while (cpu_ms() < until)
    ;
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

#endif
