/* Runs two sessions that use contexts, labels, spans, files and uploads, under
 * valgrind. The test fails if memory is lost, or read before it was written. */
#include <spanprof/spanprof.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAK_THREADS 3
#define LEAK_SPANS   40

static void leak_require(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "not true: %s (%s)\n", what, spanprof_last_error());
  abort();
}

static void leak_burn(uint64_t cpu_ns) {
  struct timespec now;
  uint64_t until_ns = 0, at_ns;

  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (until_ns == 0)
      until_ns = at_ns + cpu_ns;
  } while (at_ns < until_ns);
}

static void *worker_run(void *data) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET",
                             .name_bytes = 3};
  const spanprof_span_rules *rules = data;
  int i;

  for (i = 0; i < LEAK_SPANS; i++) {
    spanprof_context *context;
    spanprof_label_token label;
    spanprof_span_token token;
    spanprof_span span;
    char text[600];
    size_t length;

    memset(text, 'n', sizeof text);
    snprintf(text, sizeof text, "name %d", i);
    leak_require(spanprof_context_new(&context) == SPANPROF_OK, "a context");
    spanprof_context_switch(context);
    spanprof_label_push_bytes("step", 4, text, strlen(text), &label);
    spanprof_span_start(rules, &info, &span);
    spanprof_span_enter(span, &token);
    leak_burn(5000000);
    spanprof_span_rename(span, text, i % 2 ? sizeof text : strlen(text));
    spanprof_span_attribute_get(rules, span, SPANPROF_ATTRIBUTE_URL, text,
                                sizeof text, &length);
    spanprof_span_leave(token);
    spanprof_span_end(span);
    spanprof_label_pop(label);
    spanprof_context_switch(NULL);
    spanprof_context_free(context);
  }
  return NULL;
}

static void profile_see(void *data, const spanprof_profile *profile) {
  *(uint64_t *)data += profile->samples;
}

static void session_try(const char *directory, const char *server) {
  spanprof_span_rules *rules;
  spanprof_session *session;
  spanprof_options options;
  pthread_t threads[LEAK_THREADS];
  uint64_t samples = 0;
  int i;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "leak";
  options.labels = "zone=a";
  options.upload_interval_ms = 200;
  options.output_directory = directory;
  options.server_address = server;
  options.proxy = "";
  options.on_profile = profile_see;
  options.on_profile_data = &samples;
  options.log_level = SPANPROF_LOG_OFF;
  leak_require(spanprof_session_start(&options, &session) == SPANPROF_OK,
               "a session");
  leak_require(spanprof_span_rules_new(NULL, &rules) == SPANPROF_OK, "rules");
  for (i = 0; i < LEAK_THREADS; i++)
    pthread_create(&threads[i], NULL, worker_run, rules);
  spanprof_session_flush(session, 500);
  for (i = 0; i < LEAK_THREADS; i++)
    pthread_join(threads[i], NULL);
  spanprof_span_rules_free(rules);
  spanprof_session_stop(session, 20000);
  leak_require(samples > 0, "samples were taken");
}

int main(int argc, char **argv) {
  spanprof_session *session;
  spanprof_options options;

  leak_require(argc == 2, "a directory is given");
  spanprof_options_init(&options, sizeof options);
  options.application_name = "";
  leak_require(spanprof_session_start(&options, &session) ==
                   SPANPROF_ERR_ARGUMENT,
               "an empty name is refused");
  session_try(argv[1], NULL);
  /* Uploads fail, because no server listens on port 9 (discard). */
  session_try(argv[1], "http://127.0.0.1:9");
  return 0;
}
