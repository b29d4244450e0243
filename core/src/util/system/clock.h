/* Clocks. All code that waits, retries or expires reads an sp_clock, so that a
 * test can simulate half an hour of outage in seconds. Sampling uses the CPU
 * clocks of threads instead. */
#ifndef SP_CLOCK_H
#define SP_CLOCK_H

#include <pthread.h>

#include "util/base.h"
#include "wake.h"

typedef struct sp_clock {
  uint64_t (*monotonic_ns)(void *data);
  uint64_t (*unix_ns)(void *data);
  /* Wait on `condition` (made by sp_condition_init()), with `mutex` locked,
   * until it is signalled or monotonic_ns() reaches `until_ns` (UINT64_MAX: no
   * limit). It may return earlier. */
  void (*wait)(void *data, pthread_cond_t *condition, pthread_mutex_t *mutex,
               uint64_t until_ns);
  /* Sleep until sp_wake_call(wake), or until monotonic_ns() reaches `until_ns`
   * (UINT64_MAX: no limit). It may return earlier. */
  void (*sleep)(void *data, sp_wake *wake, uint64_t until_ns);
  void *data;
} sp_clock;

/* The system's clocks. If SPANPROF_TEST_CLOCK_RATE=n is set (tests only), they
 * run n times as fast. */
const sp_clock *sp_clock_system(void);

uint64_t sp_clock_monotonic_ns(const sp_clock *clock);
uint64_t sp_clock_unix_ns(const sp_clock *clock);
void sp_clock_wait(const sp_clock *clock, pthread_cond_t *condition,
                   pthread_mutex_t *mutex, uint64_t until_ns);
void sp_clock_sleep(const sp_clock *clock, sp_wake *wake, uint64_t until_ns);

/* Initialize a condition variable that uses CLOCK_MONOTONIC. Returns 0 or an
 * errno. */
int sp_condition_init(pthread_cond_t *condition);

/* The time of CLOCK_MONOTONIC; tests cannot change it. Signal-safe. */
SP_SIGNAL_SAFE uint64_t sp_monotonic_ns(void);

/* CPU time of the calling thread. Signal-safe. */
SP_SIGNAL_SAFE uint64_t sp_thread_cpu_ns(void);

#endif
