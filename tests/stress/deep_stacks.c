/* Samples stacks of 8 to 500 KB, on 1 to 64 threads, at 100 Hz and 1 kHz. No
 * sample is lost because of its size, and every copied part of a stack (slice)
 * is complete. */
#include "stress_run.h"

#include <pthread.h>

#define DEEP_FRAME_BYTES 480
#define DEEP_THREADS_MAX 64

typedef struct deep_case {
  unsigned stack_kb;
  unsigned threads;
  unsigned hz;
} deep_case;

static const deep_case cases[] = {
    {8, 1, 100},    {56, 1, 100},   {500, 1, 100},   {56, 2, 100},
    {500, 64, 100}, {8, 64, 1000},  {56, 1, 1000},   {500, 1, 1000},
    {500, 4, 1000}, {56, 64, 1000}, {500, 64, 1000},
};

static uint64_t samples_needed;

STRESS_NAMED static void deep_burn(void) {
  while (stress_stats().samples_taken < samples_needed)
    stress_burn(STRESS_NS_PER_MS);
  STRESS_STAY;
}

/* Recurse until the stack reaches `bottom`. Compares the address of the frame
 * and not that of a variable, because AddressSanitizer places variables
 * elsewhere. */
STRESS_NAMED static void deep_descend(uintptr_t bottom) {
  volatile char room[DEEP_FRAME_BYTES];

  room[0] = 1;
  if ((uintptr_t)__builtin_frame_address(0) > bottom)
    deep_descend(bottom);
  else
    deep_burn();
  room[DEEP_FRAME_BYTES - 1] = room[0];
  STRESS_STAY;
}

static void *deep_run(void *data) {
  const deep_case *deep = data;

  STRESS_OK(spanprof_thread_register());
  deep_descend((uintptr_t)__builtin_frame_address(0) - (deep->stack_kb << 10));
  return NULL;
}

static void case_try(const deep_case *deep) {
  pthread_t threads[DEEP_THREADS_MAX];
  static stress_run run;
  unsigned i;

  stress_run_init(&run, "deep_stacks");
  run.options.sample_rate_hz = deep->hz;
  run.options.upload_interval_ms = 10000;
  stress_run_start(&run);
  /* With the largest stacks at 1 kHz, these samples need twice the capacity of
   * the ring. */
  samples_needed = stress_seconds() * (deep->hz > 100 ? 80 : 16);
  for (i = 0; i < deep->threads; i++)
    STRESS_REQUIRE(pthread_create(&threads[i], NULL, deep_run, (void *)deep) ==
                       0,
                   "no thread");
  for (i = 0; i < deep->threads; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 10000);
  printf("%3u KB, %2u threads, %4u Hz: %5llu samples, %llu full, "
         "%llu cut, collector %.1f us each\n",
         deep->stack_kb, deep->threads, deep->hz,
         (unsigned long long)run.stats.samples_taken,
         (unsigned long long)run.stats.samples_dropped_full,
         (unsigned long long)run.stats.stacks_truncated,
         (double)run.stats.collector_cpu_ns / 1e3 /
             (double)run.stats.samples_taken);
  STRESS_REQUIRE(run.stats.samples_dropped_full == 0, "samples were lost");
  STRESS_REQUIRE(STRESS_TSAN || STRESS_ASAN || deep->stack_kb >= 64 ||
                     run.stats.stacks_truncated == 0,
                 "stacks were cut");
  stress_run_dispose(&run);
}

int main(void) {
  size_t i;

  stress_begin();
  for (i = 0; i < STRESS_COUNT_OF(cases); i++)
    case_try(&cases[i]);
  return 0;
}
