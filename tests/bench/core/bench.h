/* Functions for all benchmarks: clocks, order statistics, and the output of a
 * row. A row has a bar (the goal), the measured figure, and a figure for
 * comparison. A program exits with 0 if it could measure, even if the bar does
 * not hold, and with 1 otherwise. */
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

/* Returns whether the run must be short. A short run only shows that the
 * benchmark works. */
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

/* Returns the CPU time of the calling thread. */
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

/* Returns a quantile of sorted values; `share` 0.5 is the median. */
static inline double bench_quantile(const double *sorted, size_t count,
                                    double share) {
  size_t at = (size_t)(share * (double)count);

  return sorted[at < count ? at : count - 1];
}

/* Returns the next number of a fixed pseudo-random sequence. The constants are
 * from MMIX (Knuth, The Art of Computer Programming 2, 3.3.4). */
static inline uint32_t bench_random(uint64_t *state) {
  *state =
      *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 32);
}

/* Returns the text that reports whether the bar holds. It marks short runs,
 * whose figures are not meaningful. */
static inline const char *bench_holds(bool holds) {
  if (bench_quick())
    return holds ? "yes (short)" : "no (short)";
  return holds ? "yes" : "no";
}

/* Print a line for people, which `run` shows unchanged. */
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

/* Print a row, which `run` puts into its table. */
static inline void bench_bar(const char *what, const char *measured,
                             const char *bar, const char *comparison,
                             bool holds) {
  printf("bar: %s | %s | %s | %s | %s\n", what, measured, bar, comparison,
         bench_holds(holds));
  fflush(stdout);
}

/* Print an error and exit with 1, because measuring is not possible. */
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
