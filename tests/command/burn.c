/* burn DIRECTORY: burns about two seconds of CPU time in spans, some without,
 * writes the profiles to the directory and prints each span: id, name. */
#include <spanprof/spanprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BURN_CODE __attribute__((noinline, used))

static volatile uint64_t burn_sink;

static double burn_cpu_s(void) {
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

BURN_CODE static void burn_leaf(double seconds) {
  double until = burn_cpu_s() + seconds;
  int i;

  while (burn_cpu_s() < until) {
    for (i = 0; i < 10000; i++)
      burn_sink += (uint64_t)i * i;
  }
}

BURN_CODE static void burn_again(int depth, double seconds) {
  if (depth == 0)
    burn_leaf(seconds);
  else
    burn_again(depth - 1, seconds);
  burn_sink++;
}

/* Returns whether all went well. */
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
      spanprof_label_push("phase", 5, phase, strlen(phase), &label_token) !=
          SPANPROF_OK)
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
