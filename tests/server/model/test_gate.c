#include "check.h"

#include <pthread.h>
#include <server/model/gate.h>

#define THREADS 16
#define ROUNDS  500

static struct {
  sp_gate gate;
  atomic_int inside;
  atomic_int most;
  atomic_int rounds;
} seen;

static void *pass(void *argument) {
  int i, inside, most;

  (void)argument;
  for (i = 0; i < ROUNDS; i++) {
    sp_gate_enter(&seen.gate);
    inside = atomic_fetch_add(&seen.inside, 1) + 1;
    most = atomic_load(&seen.most);
    while (inside > most &&
           !atomic_compare_exchange_weak(&seen.most, &most, inside))
      ;
    sched_yield();
    atomic_fetch_sub(&seen.inside, 1);
    atomic_fetch_add(&seen.rounds, 1);
    sp_gate_leave(&seen.gate);
  }
  return NULL;
}

static void at_most_width_threads_are_inside(void) {
  pthread_t threads[THREADS];
  int i;

  sp_gate_init(&seen.gate, 3);
  for (i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, pass, NULL));
  for (i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_EQUAL(THREADS * ROUNDS, atomic_load(&seen.rounds));
  CHECK(atomic_load(&seen.most) <= 3);
  sp_gate_dispose(&seen.gate);
}

static void a_thread_that_may_not_wait_is_refused(void) {
  sp_gate gate;

  sp_gate_init(&gate, 2);
  CHECK(sp_gate_enter_within(&gate, 0));
  CHECK(sp_gate_enter_within(&gate, 0));
  CHECK(!sp_gate_enter_within(&gate, 0));
  sp_gate_leave(&gate);
  CHECK(sp_gate_enter_within(&gate, 0));
  sp_gate_dispose(&gate);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"at_most_width_threads_are_inside", at_most_width_threads_are_inside},
      {"a_thread_that_may_not_wait_is_refused",
       a_thread_that_may_not_wait_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
