/* Common code of the stress programs: working time, deadline and failures.
 *
 * SPANPROF_STRESS_SECONDS (default 5) is the working time of a program. */
#ifndef STRESS_H
#define STRESS_H

#include <spanprof/spanprof.h>

#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STRESS_NS_PER_S  UINT64_C(1000000000)
#define STRESS_NS_PER_MS UINT64_C(1000000)
#define STRESS_NS_PER_US UINT64_C(1000)

#define STRESS_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A function that appears in stacks with its own name. It ends with
 * STRESS_STAY, so that none of its calls is a tail call. */
#if defined(__clang__)
#define STRESS_NAMED __attribute__((noinline))
#else
#define STRESS_NAMED __attribute__((noipa))
#endif
#define STRESS_STAY __asm__ volatile("" ::: "memory")

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STRESS_TSAN 1
#endif
#if __has_feature(address_sanitizer)
#define STRESS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define STRESS_TSAN 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STRESS_ASAN 1
#endif
#ifndef STRESS_TSAN
#define STRESS_TSAN 0
#endif
#ifndef STRESS_ASAN
#define STRESS_ASAN 0
#endif

/* Unless the condition is true, prints the file and line, the condition and a
 * message, and aborts the program. */
#define STRESS_REQUIRE(condition, ...)                             \
  do {                                                             \
    if (!(condition)) {                                            \
      fprintf(stderr, "%s:%d: not true: %s: ", __FILE__, __LINE__, \
              #condition);                                         \
      fprintf(stderr, __VA_ARGS__);                                \
      fputc('\n', stderr);                                         \
      abort();                                                     \
    }                                                              \
  } while (0)

#define STRESS_OK(call)                                                     \
  do {                                                                      \
    spanprof_status stress_st = (call);                                     \
                                                                            \
    STRESS_REQUIRE(stress_st == SPANPROF_OK, "%s (%s)",                     \
                   spanprof_status_text(stress_st), spanprof_last_error()); \
  } while (0)

static inline uint64_t stress_clock_ns(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * STRESS_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t stress_now_ns(void) {
  return stress_clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t stress_thread_cpu_ns(void) {
  return stress_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline unsigned stress_seconds(void) {
  const char *text = getenv("SPANPROF_STRESS_SECONDS");
  long seconds = text ? strtol(text, NULL, 10) : 0;

  return seconds >= 1 && seconds <= 3600 ? (unsigned)seconds : 5;
}

/* Every stress program calls this first. Sets an alarm, so that SIGALRM ends
 * the program if it hangs. Returns the end of the working time on the clock of
 * stress_now_ns(). */
static inline uint64_t stress_begin(void) {
  alarm(stress_seconds() * 4 + 240);
  setvbuf(stdout, NULL, _IOLBF, 0);
  return stress_now_ns() + stress_seconds() * STRESS_NS_PER_S;
}

/* Let the session sample on a wall clock at `hz`, unless the environment sets
 * another rate. A wall clock can send more signals than a CPU clock, whose
 * timers expire only at the kernel's ticks. */
static inline void stress_wall_hz(const char *hz) {
  setenv("SPANPROF_TEST_WALL_HZ", hz, 0);
}

static inline void stress_sleep_ms(unsigned ms) {
  struct timespec pause = {.tv_sec = (time_t)(ms / 1000),
                           .tv_nsec = (long)(ms % 1000) * 1000000};

  while (nanosleep(&pause, &pause) != 0)
    continue;
}

/* Burn `cpu_ns` of this thread's CPU time. */
static inline uint64_t stress_burn(uint64_t cpu_ns) {
  uint64_t until_ns = stress_thread_cpu_ns() + cpu_ns, now_ns, end_ns;
  volatile uint64_t x = until_ns;
  int i;

  /* Read the CPU clock rarely, because a thread that constantly reads it gets
   * few ticks (tests/core/burn.h). */
  while ((now_ns = stress_thread_cpu_ns()) < until_ns) {
    end_ns = stress_now_ns() + (until_ns - now_ns);
    do
      for (i = 0; i < 200; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    while (stress_now_ns() < end_ns);
  }
  return x;
}

/* A cheap random number generator. Each thread has its own state. */
static inline uint32_t stress_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

#endif
