#include "clock.h"

#include <time.h>

#include "test_variable.h"
#include "util/text/number.h"

SP_SIGNAL_SAFE static uint64_t clock_read_ns(clockid_t id) {
  struct timespec now;

  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * SP_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t sp_monotonic_ns(void) {
  return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t sp_thread_cpu_ns(void) {
  return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The clocks' values at their first use, and the speed-up of the test clock.
 * Process-wide, because the clocks are process-wide. */
static struct {
  pthread_once_t once;
  uint64_t rate;
  uint64_t monotonic_ns;
  uint64_t unix_ns;
} clock_origin = {.once = PTHREAD_ONCE_INIT};

static void origin_init(void) {
  const char *rate = SP_TEST_VARIABLE("SPANPROF_TEST_CLOCK_RATE");
  uint64_t n;

  clock_origin.rate = rate && sp_number_is(rate, 100000, &n) && n ? n : 1;
  clock_origin.monotonic_ns = sp_monotonic_ns();
  clock_origin.unix_ns = clock_read_ns(CLOCK_REALTIME);
}

static uint64_t system_monotonic_ns(void *data) {
  (void)data;
  return clock_origin.monotonic_ns +
         (sp_monotonic_ns() - clock_origin.monotonic_ns) * clock_origin.rate;
}

static uint64_t system_unix_ns(void *data) {
  (void)data;
  if (clock_origin.rate == 1)
    return clock_read_ns(CLOCK_REALTIME);
  return clock_origin.unix_ns +
         (system_monotonic_ns(NULL) - clock_origin.monotonic_ns);
}

/* The CLOCK_MONOTONIC time at which sp_clock_system() shows `ns`. */
static uint64_t real_from_ns(uint64_t ns) {
  if (ns <= clock_origin.monotonic_ns || ns == UINT64_MAX)
    return ns;
  return clock_origin.monotonic_ns +
         (ns - clock_origin.monotonic_ns) / clock_origin.rate;
}

static void system_wait(void *data, pthread_cond_t *condition,
                        pthread_mutex_t *mutex, uint64_t until_ns) {
  uint64_t real_ns = real_from_ns(until_ns);
  struct timespec until;

  (void)data;
  if (until_ns == UINT64_MAX) {
    pthread_cond_wait(condition, mutex);
    return;
  }
  until.tv_sec = (time_t)(real_ns / SP_NS_PER_S);
  until.tv_nsec = (long)(real_ns % SP_NS_PER_S);
  pthread_cond_timedwait(condition, mutex, &until);
}

static void system_sleep(void *data, sp_wake *wake, uint64_t until_ns) {
  (void)data;
  sp_wake_wait(wake, real_from_ns(until_ns));
}

static const sp_clock clock_system = {
    .monotonic_ns = system_monotonic_ns,
    .unix_ns = system_unix_ns,
    .wait = system_wait,
    .sleep = system_sleep,
};

const sp_clock *sp_clock_system(void) {
  pthread_once(&clock_origin.once, origin_init);
  return &clock_system;
}

uint64_t sp_clock_monotonic_ns(const sp_clock *clock) {
  return clock->monotonic_ns(clock->data);
}

uint64_t sp_clock_unix_ns(const sp_clock *clock) {
  return clock->unix_ns(clock->data);
}

void sp_clock_wait(const sp_clock *clock, pthread_cond_t *condition,
                   pthread_mutex_t *mutex, uint64_t until_ns) {
  clock->wait(clock->data, condition, mutex, until_ns);
}

void sp_clock_sleep(const sp_clock *clock, sp_wake *wake, uint64_t until_ns) {
  clock->sleep(clock->data, wake, until_ns);
}

int sp_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  int error = pthread_condattr_init(&attributes);

  if (error)
    return error;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  error = pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return error;
}
