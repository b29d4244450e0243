#include "util/own_thread.h"

#include <semaphore.h>

#include "check.h"

#define TURNS 500

static sem_t go_on;

static void *waits(void *nothing) {
  sem_wait(&go_on);
  return nothing;
}

static pthread_t started(void) {
  pthread_t thread;

  CHECK_EQUAL(
      sp_own_thread_start(&thread, "own", SP_OWN_STACK_SMALL, waits, NULL), 0);
  return thread;
}

static void ours_are_known_from_their_start(void) {
  pthread_t thread;
  int turn;

  for (turn = 0; turn < TURNS; turn++) {
    thread = started();
    CHECK(sp_own_threads_only());
    sem_post(&go_on);
    pthread_join(thread, NULL);
  }
}

static void ours_are_known_to_their_end(void) {
  pthread_t thread;
  int turn;

  for (turn = 0; turn < TURNS; turn++) {
    thread = started();
    while (sp_own_thread_count() == 0)
      sched_yield();
    sem_post(&go_on);
    while (sp_own_thread_count() > 0)
      ;
    CHECK(sp_own_threads_only());
    pthread_join(thread, NULL);
  }
}

static void another_is_none_of_ours(void) {
  pthread_t own = started(), other;

  CHECK_EQUAL(pthread_create(&other, NULL, waits, NULL), 0);
  while (sp_own_thread_count() == 0)
    sched_yield();
  CHECK(!sp_own_threads_only());
  sem_post(&go_on);
  sem_post(&go_on);
  pthread_join(own, NULL);
  pthread_join(other, NULL);
}

static const check_test tests[] = {
    {"ours_are_known_from_their_start", ours_are_known_from_their_start},
    {"ours_are_known_to_their_end", ours_are_known_to_their_end},
    {"another_is_none_of_ours", another_is_none_of_ours},
};

int main(int argc, char **argv) {
#if defined(__SANITIZE_THREAD__)
  fprintf(stderr, "the thread sanitizer has a thread of its own\n");
  return 77;
#endif
  sem_init(&go_on, 0, 0);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
