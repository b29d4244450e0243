/* A clock of its own for a test: as fast as wanted, changed at any time. */
#ifndef TEST_CLOCK_H
#define TEST_CLOCK_H

#include <time.h>

#include "check.h"
#include "util/clock.h"

typedef struct test_clock {
  sp_clock clock;
  _Atomic uint64_t rate;
  uint64_t real_ns; /* at the start */
  uint64_t unix_ns; /* at the start */
} test_clock;

static inline uint64_t test_clock_monotonic(void *data) {
  test_clock *test = data;

  return test->real_ns + (sp_monotonic_ns() - test->real_ns) * test->rate;
}

static inline uint64_t test_clock_unix(void *data) {
  test_clock *test = data;

  return test->unix_ns + (test_clock_monotonic(test) - test->real_ns);
}

static inline void test_clock_wait(void *data, pthread_cond_t *condition,
                                   pthread_mutex_t *mutex, uint64_t until_ns) {
  test_clock *test = data;
  uint64_t real_ns;
  struct timespec until;

  if (until_ns == UINT64_MAX) {
    pthread_cond_wait(condition, mutex);
    return;
  }
  real_ns = until_ns <= test->real_ns
                ? until_ns
                : test->real_ns + (until_ns - test->real_ns) / test->rate;
  until.tv_sec = (time_t)(real_ns / SP_NS_PER_S);
  until.tv_nsec = (long)(real_ns % SP_NS_PER_S);
  pthread_cond_timedwait(condition, mutex, &until);
}

static inline void test_clock_init(test_clock *test, uint64_t rate) {
  struct timespec now;

  memset(test, 0, sizeof *test);
  clock_gettime(CLOCK_REALTIME, &now);
  test->clock.monotonic_ns = test_clock_monotonic;
  test->clock.unix_ns = test_clock_unix;
  test->clock.wait = test_clock_wait;
  test->clock.data = test;
  test->rate = rate;
  test->real_ns = sp_monotonic_ns();
  test->unix_ns = (uint64_t)now.tv_sec * SP_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
