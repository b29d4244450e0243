/* Tests of spanprof_span_retain(), by which a program adds references to
 * spans. */
#include "check.h"

#include "span/span.h"
#include "util/system/counters.h"

#include <pthread.h>
#include <string.h>

#define KEPT 8

static spanprof_span start(void) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "kept",
                             .name_bytes = 4};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  return span;
}

static bool known(spanprof_span span) {
  char name[64];
  sp_span_view view;

  return sp_span_describe(span, name, sizeof name, &view) &&
         view.name_bytes == 4 && memcmp(view.name, "kept", 4) == 0;
}

static void sweep_thrice(void) {
  sp_span_sweep();
  sp_span_sweep();
  sp_span_sweep();
}

static void retained_span_is_kept_until_its_release(void) {
  spanprof_span span = start();

  CHECK_EQUAL(spanprof_span_retain(span), 1);
  CHECK_EQUAL(spanprof_span_retain(span), 1);
  spanprof_span_end(span);
  sweep_thrice();
  CHECK(known(span));
  spanprof_span_release(span);
  sweep_thrice();
  CHECK(known(span));
  spanprof_span_release(span);
  sweep_thrice();
  CHECK(!known(span));
}

static void a_freed_span_cannot_be_retained(void) {
  spanprof_span span = start();

  spanprof_span_end(span);
  sweep_thrice();
  CHECK_EQUAL(spanprof_span_retain(span), 0);
  CHECK_EQUAL(spanprof_span_retain(0), 0);
  CHECK_EQUAL(spanprof_span_retain(UINT64_MAX), 0);
}

static _Atomic spanprof_span shared[KEPT];
static _Atomic int retain_stop;

/* Retain spans in a loop. A retained span stays unchanged until its release. */
static void *retain_often(void *data) {
  unsigned i = 0;

  while (!atomic_load(&retain_stop)) {
    spanprof_span span = atomic_load(&shared[i++ % KEPT]);

    if (spanprof_span_retain(span)) {
      CHECK(known(span));
      spanprof_span_release(span);
    }
  }
  return data;
}

static void *sweep_often(void *data) {
  while (!atomic_load(&retain_stop))
    sp_span_sweep();
  return data;
}

static void threads_retain_spans_that_others_free(void) {
  pthread_t threads[3];
  spanprof_span span;
  int i;

  pthread_create(&threads[0], NULL, retain_often, NULL);
  pthread_create(&threads[1], NULL, retain_often, NULL);
  pthread_create(&threads[2], NULL, sweep_often, NULL);
  for (i = 0; i < 100000; i++) {
    span = start();
    atomic_store(&shared[i % KEPT], span);
    spanprof_span_end(span);
  }
  atomic_store(&retain_stop, 1);
  for (i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  sweep_thrice();
  for (i = 0; i < KEPT; i++)
    CHECK(!known(atomic_load(&shared[i])));
  CHECK_EQUAL(sp_counted(&sp_counts.spans_live), 0);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"retained_span_is_kept_until_its_release",
       retained_span_is_kept_until_its_release},
      {"a_freed_span_cannot_be_retained", a_freed_span_cannot_be_retained},
      {"threads_retain_spans_that_others_free",
       threads_retain_spans_that_others_free},
  };

  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
