#include "collect/samples/span_set.h"

#include "check.h"
#include "failing_mem.h"
#include "span/span.h"

static spanprof_span span_ended(const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  spanprof_span_end(span);
  return span;
}

static bool span_known(spanprof_span span) {
  char name[2048];
  sp_span_view view;

  return sp_span_describe(span, name, sizeof name, &view);
}

static void sweep_spans(void) {
  int i;

  for (i = 0; i < 5; i++)
    sp_span_sweep();
}

static void retained_spans_survive_sweeps_until_the_window_ends(void) {
  spanprof_span retained = span_ended("retained"), other = span_ended("other");
  sp_span_set set;

  sp_span_set_init(&set, &sp_mem_default);
  sp_span_set_add(&set, retained);
  sp_span_set_add(&set, retained);
  sp_span_set_add(&set, 0);
  CHECK_EQUAL(set.count, 1);
  sweep_spans();
  CHECK(span_known(retained));
  CHECK(!span_known(other));
  sp_span_set_clear(&set);
  CHECK_EQUAL(set.count, 0);
  sweep_spans();
  CHECK(!span_known(retained));
  sp_span_set_dispose(&set);
}

static void stale_numbers_are_not_retained(void) {
  spanprof_span stale = span_ended("stale");
  sp_span_set set;

  sweep_spans();
  sp_span_set_init(&set, &sp_mem_default);
  sp_span_set_add(&set, stale);
  CHECK_EQUAL(set.count, 0);
  sp_span_set_dispose(&set);
}

static void many_spans_are_retained_and_released(void) {
  static spanprof_span spans[20000];
  sp_span_set set;
  size_t i;

  sp_span_set_init(&set, &sp_mem_default);
  for (i = 0; i < 20000; i++)
    sp_span_set_add(&set, spans[i] = span_ended("one of many"));
  CHECK_EQUAL(set.count, 20000);
  sweep_spans();
  for (i = 0; i < 20000; i++)
    CHECK(span_known(spans[i]));
  sp_span_set_clear(&set);
  CHECK(!set.spans);
  sweep_spans();
  for (i = 0; i < 20000; i++)
    CHECK(!span_known(spans[i]));
  sp_span_set_dispose(&set);
}

static void retain_some(const sp_mem *mem) {
  sp_span_set set;
  int i;

  sp_span_set_init(&set, mem);
  for (i = 0; i < 200; i++)
    sp_span_set_add(&set, span_ended("swept"));
  sp_span_set_clear(&set);
  sp_span_set_dispose(&set);
  sweep_spans();
}

static void without_memory_nothing_is_retained_or_leaked(void) {
  failing_mem_sweep(retain_some);
}

static const check_test tests[] = {
    {"retained_spans_survive_sweeps_until_the_window_ends",
     retained_spans_survive_sweeps_until_the_window_ends},
    {"stale_numbers_are_not_retained", stale_numbers_are_not_retained},
    {"many_spans_are_retained_and_released",
     many_spans_are_retained_and_released},
    {"without_memory_nothing_is_retained_or_leaked",
     without_memory_nothing_is_retained_or_leaked},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
