#include "util/system/own_thread.h"

#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 500

static sem_t go_on, other_go_on;

static void *waits(void *nothing) {
  sem_wait(&go_on);
  return nothing;
}

static void *other_waits(void *nothing) {
  sem_wait(&other_go_on);
  return nothing;
}

static pthread_t started(void) {
  pthread_t thread;

  CHECK_EQUAL(
      sp_own_thread_start(&thread, "own", SP_OWN_STACK_SMALL, waits, NULL), 0);
  return thread;
}

static void own_threads_are_known_from_their_start(void) {
  pthread_t thread;
  int round;

  for (round = 0; round < ROUNDS; round++) {
    thread = started();
    CHECK(sp_own_threads_only());
    sem_post(&go_on);
    pthread_join(thread, NULL);
  }
}

static void own_threads_are_known_until_their_end(void) {
  pthread_t thread;
  int round;

  for (round = 0; round < ROUNDS; round++) {
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

static void another_thread_is_not_ours(void) {
  pthread_t own = started(), other;

  CHECK_EQUAL(pthread_create(&other, NULL, other_waits, NULL), 0);
  while (sp_own_thread_count() == 0)
    sched_yield();
  CHECK(!sp_own_threads_only());
  sem_post(&go_on);
  sem_post(&other_go_on);
  pthread_join(own, NULL);
  pthread_join(other, NULL);
}

/* sp_own_threads_only() is called at any moment while threads of the library
 * start and end. */
static void another_thread_is_found_while_library_threads_start(void) {
  pthread_t own, other;
  int round;

  CHECK_EQUAL(pthread_create(&other, NULL, other_waits, NULL), 0);
  for (round = 0; round < ROUNDS; round++) {
    own = started();
    CHECK(!sp_own_threads_only());
    sem_post(&go_on);
    do
      CHECK(!sp_own_threads_only());
    while (sp_own_thread_count() > 0);
    pthread_join(own, NULL);
  }
  sem_post(&other_go_on);
  pthread_join(other, NULL);
}

static void a_deferred_thread_is_joined_after_its_end(void) {
  pthread_t thread = started();

  sp_own_thread_defer_join(thread);
  CHECK(!sp_own_threads_join_deferred(0));
  sem_post(&go_on);
  CHECK(sp_own_threads_join_deferred(60 * SP_NS_PER_S));
}

static void *passes_the_gate(void *nothing) {
  sem_wait(&go_on);
  sp_own_thread_gate();
  abort();
  return nothing;
}

/* sp_own_threads_exit() closes the gate, at which threads then block, for ever.
 * So the test runs in a child process. */
static void a_deferred_thread_stops_at_the_gate_after_exit(void) {
  pid_t child = fork();
  pthread_t thread;
  int status;

  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQUAL(sp_own_thread_start(&thread, "own", SP_OWN_STACK_SMALL,
                                    passes_the_gate, NULL),
                0);
    sp_own_thread_defer_join(thread);
    sp_exit_begin();
    sp_own_threads_exit();
    sem_post(&go_on);
    /* The thread cannot end, because it is blocked in pause(). */
    CHECK(!sp_own_threads_join_deferred(SP_NS_PER_S / 5));
    _exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

static const check_test tests[] = {
    {"own_threads_are_known_from_their_start",
     own_threads_are_known_from_their_start},
    {"own_threads_are_known_until_their_end",
     own_threads_are_known_until_their_end},
    {"another_thread_is_not_ours", another_thread_is_not_ours},
    {"another_thread_is_found_while_library_threads_start",
     another_thread_is_found_while_library_threads_start},
    {"a_deferred_thread_is_joined_after_its_end",
     a_deferred_thread_is_joined_after_its_end},
    {"a_deferred_thread_stops_at_the_gate_after_exit",
     a_deferred_thread_stops_at_the_gate_after_exit},
};

int main(int argc, char **argv) {
#if defined(__SANITIZE_THREAD__)
  fprintf(stderr, "skipped: ThreadSanitizer has a thread of its own\n");
  return 77;
#endif
  sem_init(&go_on, 0, 0);
  sem_init(&other_go_on, 0, 0);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
