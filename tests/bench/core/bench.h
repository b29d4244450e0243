/* Shared by the benchmarks: time, order statistics, and the line that prints a
 * bar, the measured figure, and an alternative. A figure never fails a program:
 * it exits with 0 if it could measure, and with 1 otherwise. */
#ifndef BENCH_H
#define BENCH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_NS_PER_MS UINT64_C(1000000)
#define BENCH_NS_PER_S  UINT64_C(1000000000)

/* Returns whether the run must be short. Its figures only show that it works.
 */
static inline bool bench_quick(void) {
  const char *quick = getenv("SPANPROF_BENCH_QUICK");

  return quick && *quick && strcmp(quick, "0") != 0;
}

static inline uint64_t bench_clock_ns(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * BENCH_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t bench_now_ns(void) {
  return bench_clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread. */
static inline uint64_t bench_cpu_ns(void) {
  return bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline void bench_sleep_ns(uint64_t ns) {
  struct timespec pause = {.tv_sec = (time_t)(ns / BENCH_NS_PER_S),
                           .tv_nsec = (long)(ns % BENCH_NS_PER_S)};

  nanosleep(&pause, NULL);
}

static inline int bench_order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static inline void bench_sort(double *values, size_t count) {
  qsort(values, count, sizeof *values, bench_order);
}

/* A quantile of sorted values; `share` 0.5 is the median. */
static inline double bench_quantile(const double *sorted, size_t count,
                                    double share) {
  size_t at = (size_t)(share * (double)count);

  return sorted[at < count ? at : count - 1];
}

/* The next number of a fixed sequence. The constants are from MMIX (Knuth, The
 * Art of Computer Programming 2, 3.3.4). */
static inline uint32_t bench_random(uint64_t *state) {
  *state =
      *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 32);
}

/* Compare a figure with its bar only if the run was long enough. */
static inline const char *bench_holds(bool holds) {
  if (bench_quick())
    return holds ? "yes (short)" : "no (short)";
  return holds ? "yes" : "no";
}

/* Print a line for people. */
static inline void bench_print(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline void bench_print(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

/* Print a row of the table of `run`. */
static inline void bench_bar(const char *what, const char *measured,
                             const char *bar, const char *comparison,
                             bool holds) {
  printf("bar: %s | %s | %s | %s | %s\n", what, measured, bar, comparison,
         bench_holds(holds));
  fflush(stdout);
}

/* Exit, because measuring is not possible. */
static inline void bench_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static inline void bench_die(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

#endif
