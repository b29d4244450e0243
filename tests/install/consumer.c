/* consumer OUTPUT_DIRECTORY: a program that uses only the installed files of
 * spanprof, profiles itself and writes the profiles to the directory. */
#include <spanprof/spanprof.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONSUMER_CPU_S 0.3

static double consumer_cpu_s(void) {
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void consumer_work(void) {
  volatile unsigned long sum = 0;
  double end = consumer_cpu_s() + CONSUMER_CPU_S;

  while (consumer_cpu_s() < end)
    for (unsigned i = 0; i < 10000; i++)
      sum += i;
}

static int consumer_failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, spanprof_last_error());
  return 1;
}

int main(int argc, char **argv) {
  spanprof_options options;
  spanprof_session *session;
  spanprof_stats stats;
  spanprof_span_info info;
  spanprof_span span;
  spanprof_span_token token;

  if (argc != 2)
    return consumer_failed("usage: consumer OUTPUT_DIRECTORY");
  if (strcmp(spanprof_version(), SPANPROF_VERSION) != 0)
    return consumer_failed("header and library have different versions");
  spanprof_options_init(&options, sizeof options);
  options.application_name = "consumer";
  options.output_directory = argv[1];
  if (spanprof_session_start(&options, &session) != SPANPROF_OK)
    return consumer_failed("start");

  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  info.flags = SPANPROF_SPAN_SAMPLED;
  info.name = "work";
  info.name_bytes = strlen(info.name);
  if (spanprof_span_start(NULL, &info, &span) != SPANPROF_OK ||
      spanprof_span_enter(span, &token) != SPANPROF_OK)
    return consumer_failed("span");
  consumer_work();
  spanprof_span_leave(token);
  spanprof_span_end(span);

  if (spanprof_session_stop(session, 5000) != SPANPROF_OK)
    return consumer_failed("stop");
  stats.struct_size = sizeof stats;
  if (spanprof_stats_get(&stats) != SPANPROF_OK)
    return consumer_failed("statistics");
  printf("%llu samples, %llu profiles written\n",
         (unsigned long long)stats.samples_taken,
         (unsigned long long)stats.profiles_written);
  return stats.samples_exported > 0 && stats.profiles_written > 0 ? 0 : 1;
}
