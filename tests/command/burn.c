/* burn DIRECTORY [nested]: uses about two seconds of CPU time, with and without
 * spans, writes the profiles to the directory, and prints the id and name of
 * each span. With "nested", spans have child spans, and each has its own
 * samples. */
#include <spanprof/spanprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BURN_CODE __attribute__((noinline, used))

static volatile uint64_t burn_sink;

static double burn_clock_s(clockid_t clock) {
  struct timespec now;

  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

BURN_CODE static void burn_leaf(double seconds) {
  double until = burn_clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds, left, end;
  int i;

  /* Read the CPU clock rarely, since a thread that reads it all the time gets
   * few ticks (tests/core/burn.h). */
  while ((left = until - burn_clock_s(CLOCK_THREAD_CPUTIME_ID)) > 0) {
    end = burn_clock_s(CLOCK_MONOTONIC) + left;
    while (burn_clock_s(CLOCK_MONOTONIC) < end) {
      for (i = 0; i < 10000; i++)
        burn_sink += (uint64_t)i * i;
    }
  }
}

BURN_CODE static void burn_again(int depth, double seconds) {
  if (depth == 0)
    burn_leaf(seconds);
  else
    burn_again(depth - 1, seconds);
  burn_sink++;
}

/* Uses CPU time in the span `id` and its children. The spans are nested as in
 * outer [wrapper [query [query]], query]; `steps` has the seconds of each span
 * itself. Returns whether it succeeded. */
static int burn_nested(const spanprof_span_rules *rules, uint8_t parent,
                       uint8_t id) {
  static const struct burn_step {
    const char *name;
    double seconds;
    uint8_t children[3];
  } steps[] = {
      [1] = {"outer", 0.3, {2, 5}}, [2] = {"wrapper", 0, {3}},
      [3] = {"query", 0.3, {4}},    [4] = {"query", 0.2, {0}},
      [5] = {"query", 0.2, {0}},
  };
  const struct burn_step *step = &steps[id];
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = step->name,
                             .name_bytes = strlen(step->name)};
  spanprof_span_token token;
  spanprof_span span;
  int i, good = 1;

  info.trace_id[0] = 1;
  info.span_id[0] = info.parent_id[0] = 0xfe; /* negative as int64_t */
  info.span_id[7] = id;
  info.parent_id[7] = parent;
  if (!parent)
    info.parent_id[0] = 0;
  if (spanprof_span_start(rules, &info, &span) != SPANPROF_OK ||
      spanprof_span_enter(span, &token) != SPANPROF_OK)
    return 0;
  if (step->seconds > 0) /* reading the clock delivers late ticks, so a span
                          * without work must not read it */
    burn_leaf(step->seconds);
  for (i = 0; good && step->children[i]; i++)
    good = burn_nested(rules, id, step->children[i]);
  spanprof_span_leave(token);
  spanprof_span_end(span);
  printf("fe000000000000%02x %s\n", id, step->name);
  return good;
}

static int burn_all_nested(void) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;
  int good;

  spanprof_span_rules_options_init(&options, sizeof options);
  options.root_span_only = 0;
  if (spanprof_span_rules_new(&options, &rules) != SPANPROF_OK)
    return 0;
  good = burn_nested(rules, 0, 1);
  spanprof_span_rules_free(rules);
  return good;
}

/* Uses CPU time in a span with the label `phase`. Returns whether it succeeded.
 */
static int burn_span(const char *name, const char *phase, double seconds) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  static uint8_t number;
  spanprof_span_token span_token;
  spanprof_label_token label_token;
  spanprof_span span;

  info.trace_id[0] = 1;
  info.span_id[7] = ++number;
  if (spanprof_span_start(NULL, &info, &span) != SPANPROF_OK ||
      spanprof_span_enter(span, &span_token) != SPANPROF_OK ||
      spanprof_label_push_bytes("phase", 5, phase, strlen(phase),
                                &label_token) != SPANPROF_OK)
    return 0;
  burn_again(5, seconds);
  spanprof_label_pop(label_token);
  spanprof_span_leave(span_token);
  spanprof_span_end(span);
  printf("%016x %s\n", number, name);
  return 1;
}

int main(int argc, char **argv) {
  spanprof_options options;
  spanprof_session *session;
  int good;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "burn";
  options.output_directory = argc > 1 ? argv[1] : "";
  options.upload_interval_ms = 700;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK) {
    fprintf(stderr, "burn: %s\n", spanprof_last_error());
    return 1;
  }
  if (argc > 2)
    good = burn_all_nested();
  else
    good = burn_span("GET /cart", "read", 0.4) &&
           burn_span("GET /", "read", 0.3) &&
           burn_span("GET /cart", "write", 0.5) &&
           burn_span("POST /pay \"now\"", "write", 0.3);
  burn_leaf(0.4);
  if (spanprof_session_stop(session, 5000) != SPANPROF_OK || !good) {
    fprintf(stderr, "burn: %s\n", spanprof_last_error());
    return 1;
  }
  return 0;
}
