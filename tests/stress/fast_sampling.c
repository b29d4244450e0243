/* 10,000 signals per second interrupt each thread. The threads only run code
 * that a handler may interrupt halfway: calls that change labels, spans and
 * contexts, malloc, and the dynamic loader. */
#include "stress_run.h"

#include <dlfcn.h>
#include <link.h>

#define FAST_THREADS 5

static uint64_t work_until_ns;
static _Atomic uint64_t rounds_done;
static _Atomic(spanprof_labels) labels_shared;

static void labels_work(unsigned number, uint64_t *random) {
  spanprof_label_token outer, inner;
  char value[16];

  snprintf(value, sizeof value, "%u-%u", number, stress_random(random) % 300);
  STRESS_OK(
      spanprof_label_push_bytes("outer", 5, value, strlen(value), &outer));
  STRESS_OK(spanprof_label_push_bytes("inner", 5, "x", 1, &inner));
  atomic_store(&labels_shared, spanprof_labels_get());
  spanprof_label_pop(stress_random(random) % 2 ? inner : outer);
  spanprof_label_pop(outer);
  spanprof_labels_set(atomic_load(&labels_shared));
  spanprof_labels_set(0);
}

static void spans_work(unsigned number, uint64_t *random) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "fast",
                             .name_bytes = 4};
  spanprof_span outer, inner;
  spanprof_span_token first, second;

  (void)number;
  STRESS_OK(spanprof_span_start(NULL, &info, &outer));
  STRESS_OK(spanprof_span_enter(outer, &first));
  STRESS_OK(spanprof_span_start(NULL, &info, &inner));
  STRESS_OK(spanprof_span_enter(inner, &second));
  spanprof_span_rename(inner, "renamed", 7);
  if (stress_random(random) % 2)
    spanprof_span_leave(second);
  spanprof_span_end(inner);
  spanprof_span_leave(first);
  spanprof_span_end(outer);
}

static void contexts_work(unsigned number, uint64_t *random) {
  spanprof_context *context;

  STRESS_OK(spanprof_context_new(&context));
  spanprof_context_switch(context);
  labels_work(number, random);
  spans_work(number, random);
  spanprof_context_switch(NULL);
  spanprof_context_free(context);
}

static int object_visit(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  *(uint64_t *)data += info->dlpi_phnum;
  return 0;
}

static void loader_work(uint64_t *random) {
  uint64_t seen = 0;
  void *block = malloc(1 + stress_random(random) % 100000);

  dl_iterate_phdr(object_visit, &seen);
  STRESS_REQUIRE(seen > 0 && dlsym(RTLD_DEFAULT, "malloc"), "no objects");
  free(block);
}

static void *worker_run(void *data) {
  unsigned number = (unsigned)(uintptr_t)data;
  uint64_t random = number;

  while (stress_now_ns() < work_until_ns) {
    labels_work(number, &random);
    spans_work(number, &random);
    contexts_work(number, &random);
    loader_work(&random);
    rounds_done++;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[FAST_THREADS];
  static stress_run run;
  uintptr_t i;

  work_until_ns = stress_begin();
  stress_wall_hz("10000");
  stress_run_init(&run, "fast_sampling");
  stress_run_start(&run);
  for (i = 0; i < FAST_THREADS; i++)
    pthread_create(&threads[i], NULL, worker_run, (void *)i);
  for (i = 0; i < FAST_THREADS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 10000);
  STRESS_REQUIRE(run.stats.samples_exported > 0, "nothing was sampled");
  STRESS_REQUIRE(run.stats.spans_live == 0,
                 "%llu spans are live after the stop",
                 (unsigned long long)run.stats.spans_live);
  printf("%llu rounds; ", (unsigned long long)rounds_done);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
