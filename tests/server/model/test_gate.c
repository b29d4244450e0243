#include "check.h"

#include <pthread.h>
#include <server/model/gate.h>
#include <unistd.h>

#define THREADS 16
#define TURNS   500

static struct {
  sp_gate gate;
  atomic_int inside;
  atomic_int most;
  atomic_int turns;
} seen;

static void *pass(void *argument) {
  int i, inside, most;

  (void)argument;
  for (i = 0; i < TURNS; i++) {
    sp_gate_enter(&seen.gate);
    inside = atomic_fetch_add(&seen.inside, 1) + 1;
    most = atomic_load(&seen.most);
    while (inside > most &&
           !atomic_compare_exchange_weak(&seen.most, &most, inside))
      ;
    sched_yield();
    atomic_fetch_sub(&seen.inside, 1);
    atomic_fetch_add(&seen.turns, 1);
    sp_gate_leave(&seen.gate);
  }
  return NULL;
}

static void never_more_than_its_width_are_inside(void) {
  pthread_t threads[THREADS];
  int i;

  sp_gate_init(&seen.gate, 1);
  seen.gate.width = 3;
  for (i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, pass, NULL));
  for (i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK_EQUAL(THREADS * TURNS, atomic_load(&seen.turns));
  CHECK(atomic_load(&seen.most) <= 3);
  sp_gate_dispose(&seen.gate);
}

static void each_core_has_places(void) {
  sp_gate gate;

  sp_gate_init(&gate, 2);
  CHECK_EQUAL(2 * sysconf(_SC_NPROCESSORS_ONLN), gate.width);
  sp_gate_dispose(&gate);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"never_more_than_its_width_are_inside",
       never_more_than_its_width_are_inside},
      {"each_core_has_places", each_core_has_places},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
