/* One thread loads and unloads libraries while other threads allocate from one
 * malloc arena. All threads are sampled. If the unwinder or the symbol table
 * took the lock of the dynamic loader or of the allocator in the signal
 * handler, the program would hang. If it read an unmapped library, the program
 * would crash. */
#include "stress_run.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>

#define ALLOCATORS 2

#if defined(__SANITIZE_THREAD__)
/* The dynamic loader holds its own lock while it passes names to its callback.
 * ThreadSanitizer does not know this lock. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void) {
  return "race:scan_record\n";
}
#endif

static uint64_t work_until_ns;
static _Atomic uint64_t loads, allocations;

static void *loader_run(void *data) {
  (void)data;
  while (stress_now_ns() < work_until_ns) {
    void *library = dlopen(STRESS_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    int (*work)(int);

    STRESS_REQUIRE(library, "%s", dlerror());
    work = (int (*)(int))(uintptr_t)dlsym(library, "plugin_leaf_work");
    STRESS_REQUIRE(work, "%s", dlerror());
    work(2000);
    dlclose(library);
    loads++;
  }
  return NULL;
}

static void *allocator_run(void *data) {
  uint64_t random = (uintptr_t)data;
  void *blocks[64] = {NULL};
  unsigned i;

  while (stress_now_ns() < work_until_ns) {
    for (i = 0; i < 1000; i++) {
      unsigned at = stress_random(&random) % STRESS_COUNT_OF(blocks);

      free(blocks[at]);
      blocks[at] = malloc(16 + stress_random(&random) % 4096);
    }
    allocations += i;
  }
  for (i = 0; i < STRESS_COUNT_OF(blocks); i++)
    free(blocks[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[1 + ALLOCATORS];
  static stress_run run;
  uintptr_t i;

  work_until_ns = stress_begin();
  mallopt(M_ARENA_MAX, 1);
  stress_wall_hz(STRESS_TSAN ? "200" : "2000");
  stress_run_init(&run, "dlopen_malloc");
  stress_run_start(&run);
  pthread_create(&threads[0], NULL, loader_run, NULL);
  for (i = 1; i <= ALLOCATORS; i++)
    pthread_create(&threads[i], NULL, allocator_run, (void *)i);
  for (i = 0; i <= ALLOCATORS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  STRESS_REQUIRE(run.stats.samples_exported > 0, "nothing was sampled");
  printf("%llu loads, %llu allocations; ", (unsigned long long)loads,
         (unsigned long long)allocations);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
