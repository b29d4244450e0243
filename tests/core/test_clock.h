/* A clock for tests. It runs `rate` times as fast as real time, and it can
 * jump: test_clock_pass() advances it from one wake-up time of the waiting
 * thread to the next. Half an hour thus takes only as long as the thread's
 * work, also on a loaded machine. */
#ifndef TEST_CLOCK_H
#define TEST_CLOCK_H

#include <time.h>

#include "check.h"
#include "util/system/clock.h"

/* Real time between two readings of the clock while a thread waits. */
#define TEST_CLOCK_SLICE_NS (2 * SP_NS_PER_MS)

typedef struct test_clock {
  sp_clock clock;
  uint64_t rate;
  uint64_t real_ns; /* real time at the start */
  uint64_t unix_ns; /* Unix time at the start */
  pthread_t owner;  /* the thread whose waits do not count as wake-up times */
  _Atomic uint64_t jumped_ns;
  /* The time until which the other thread waits; 0: it works. */
  _Atomic uint64_t appointment_ns;
  _Atomic uint64_t appointments; /* number of waits so far */
} test_clock;

static inline uint64_t test_clock_monotonic(void *data) {
  test_clock *test = data;

  return test->real_ns + (sp_monotonic_ns() - test->real_ns) * test->rate +
         test->jumped_ns;
}

static inline uint64_t test_clock_unix(void *data) {
  test_clock *test = data;

  return test->unix_ns + (test_clock_monotonic(test) - test->real_ns);
}

static inline void test_clock_wait(void *data, pthread_cond_t *condition,
                                   pthread_mutex_t *mutex, uint64_t until_ns) {
  test_clock *test = data;
  bool appointment = !pthread_equal(pthread_self(), test->owner);
  uint64_t real_ns = sp_monotonic_ns() + TEST_CLOCK_SLICE_NS;
  struct timespec until = {(time_t)(real_ns / SP_NS_PER_S),
                           (long)(real_ns % SP_NS_PER_S)};

  if (appointment) {
    test->appointment_ns = until_ns;
    test->appointments++;
  }
  pthread_cond_timedwait(condition, mutex, &until);
  if (appointment)
    test->appointment_ns = 0;
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
  test->owner = pthread_self();
}

/* Advance the clock by `ns` while another thread works and waits. Returns after
 * that thread has done all due work. This includes work that it received just
 * before this call: the thread may have started to wait before it received the
 * work. */
static inline void test_clock_pass(test_clock *test, uint64_t ns) {
  uint64_t target_ns = test_clock_monotonic(test) + ns;
  const uint64_t earlier = test->appointments;
  struct timespec nap = {0, 200000};

  for (;;) {
    uint64_t next_ns = test->appointments == earlier ? 0 : test->appointment_ns;
    uint64_t now_ns = test_clock_monotonic(test);

    if (next_ns > now_ns && now_ns >= target_ns)
      return;
    if (next_ns > now_ns)
      test->jumped_ns += sp_min_u64(next_ns, target_ns) - now_ns;
    else
      nanosleep(&nap, NULL);
  }
}

#endif
