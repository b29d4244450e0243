#include "span_work.h"

typedef void span_work_fn(uint64_t cpu_ns, void (*inside)(void *), void *data);

/* Call `inside` from a function that belongs to no kind of span. */
STRESS_NAMED static void span_work_between(void (*inside)(void *), void *data) {
  inside(data);
  STRESS_STAY;
}

static void halves_burn(uint64_t cpu_ns, void (*inside)(void *), void *data) {
  stress_burn(cpu_ns / 2);
  if (inside)
    span_work_between(inside, data);
  stress_burn(cpu_ns / 2);
}

/* Defines the function in which a kind of span burns CPU time. The kinds have
 * different functions, because the function in a stack shows the kind of span
 * that was running. */
#define SPAN_WORK_FUNCTION(name)                                         \
  STRESS_NAMED static void name(uint64_t cpu_ns, void (*inside)(void *), \
                                void *data) {                            \
    halves_burn(cpu_ns, inside, data);                                   \
    STRESS_STAY;                                                         \
  }

SPAN_WORK_FUNCTION(span_work_checkout)
SPAN_WORK_FUNCTION(span_work_search)
SPAN_WORK_FUNCTION(span_work_login)
SPAN_WORK_FUNCTION(span_work_report)

static const struct {
  const char *name;
  const char *function;
  span_work_fn *burn;
} span_works[SPAN_WORK_KINDS] = {
    {"checkout", "span_work_checkout", span_work_checkout},
    {"search", "span_work_search", span_work_search},
    {"login", "span_work_login", span_work_login},
    {"report", "span_work_report", span_work_report},
};

const char *span_work_name(unsigned kind) {
  return span_works[kind].name;
}

const char *span_work_function(unsigned kind) {
  return span_works[kind].function;
}

spanprof_span span_work_start(const spanprof_span_rules *rules, unsigned kind,
                              const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name ? name : span_works[kind].name};
  spanprof_span span;

  info.name_bytes = strlen(info.name);
  STRESS_OK(spanprof_span_start(rules, &info, &span));
  return span;
}

void span_work_burn(unsigned kind, uint64_t cpu_ns, void (*inside)(void *),
                    void *data) {
  span_works[kind].burn(cpu_ns, inside, data);
}

/* Returns the kind of span that burns in this function, or -1. */
static int frame_kind(const char *function) {
  int kind;

  for (kind = 0; kind < SPAN_WORK_KINDS; kind++)
    if (strcmp(function, span_works[kind].function) == 0)
      return kind;
  return -1;
}

void span_work_sample(void *data, const tally_sample *sample) {
  span_work_totals *totals = data;
  int kind = -1, found;
  size_t i;

  for (i = 0; i < sample->function_count; i++) {
    if (!totals->outermost && kind < 0 &&
        strcmp(sample->functions[i], "span_work_between") == 0)
      break;
    found = frame_kind(sample->functions[i]);
    if (found >= 0 && (kind < 0 || totals->outermost))
      kind = found;
  }
  if (kind < 0) {
    totals->outside += sample->ticks;
  } else if (strcmp(sample->span_name, span_works[kind].name) == 0) {
    totals->right += sample->ticks;
  } else if (totals->before && strcmp(sample->span_name, totals->before) == 0) {
    totals->unnamed += sample->ticks;
  } else {
    totals->wrong += sample->ticks;
    if (totals->wrong <= 10)
      fprintf(stderr, "a sample in %s has span \"%s\"\n",
              span_works[kind].function, sample->span_name);
  }
}

void span_work_check(const span_work_totals *totals, const char *what) {
  printf("%s: ticks with the right span %llu, still named before %llu, wrong "
         "%llu, outside %llu; ",
         what, (unsigned long long)totals->right,
         (unsigned long long)totals->unnamed, (unsigned long long)totals->wrong,
         (unsigned long long)totals->outside);
  STRESS_REQUIRE(totals->wrong == 0, "%llu wrong",
                 (unsigned long long)totals->wrong);
  STRESS_REQUIRE(totals->right > 0, "none right");
}
