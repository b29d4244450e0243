#include "util/system/wake.h"

#include <pthread.h>

#include "check.h"
#include "util/system/clock.h"

static sp_wake wake;

static void a_call_before_the_sleep_is_not_lost(void) {
  sp_wake_call(&wake);
  sp_wake_wait(&wake, UINT64_MAX);
  sp_wake_wait(&wake, UINT64_MAX);
  sp_wake_clear(&wake);
}

static void a_sleep_ends_at_its_deadline(void) {
  uint64_t until_ns = sp_monotonic_ns() + 2 * SP_NS_PER_MS;

  while (sp_monotonic_ns() < until_ns)
    sp_wake_wait(&wake, until_ns);
  sp_wake_wait(&wake, 0);
}

/* In each round, one thread sends a wake-up and waits until the other thread
 * has answered it. */
#define WAKE_ROUNDS 2000

static sp_wake answer;
static _Atomic int requested, answered;

static void *answer_run(void *data) {
  int done = 0;

  (void)data;
  while (done < WAKE_ROUNDS) {
    sp_wake_clear(&wake);
    if (requested == done) {
      sp_wake_wait(&wake, UINT64_MAX);
      continue;
    }
    answered = ++done;
    sp_wake_call(&answer);
  }
  return NULL;
}

static void two_thousand_calls_are_all_delivered(void) {
  pthread_t thread;
  int round;

  CHECK_EQUAL(pthread_create(&thread, NULL, answer_run, NULL), 0);
  for (round = 1; round <= WAKE_ROUNDS; round++) {
    sp_wake_clear(&answer);
    requested = round;
    sp_wake_call(&wake);
    while (answered != round) {
      sp_wake_wait(&answer, UINT64_MAX);
      sp_wake_clear(&answer);
    }
  }
  pthread_join(thread, NULL);
}

static const check_test tests[] = {
    {"a_call_before_the_sleep_is_not_lost",
     a_call_before_the_sleep_is_not_lost},
    {"a_sleep_ends_at_its_deadline", a_sleep_ends_at_its_deadline},
    {"two_thousand_calls_are_all_delivered",
     two_thousand_calls_are_all_delivered},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
