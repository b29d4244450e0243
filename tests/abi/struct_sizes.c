/* Tests programs that were compiled with an older or newer header. Each public
 * structure that begins with struct_size is passed with a smaller and with a
 * larger size than in this version. A smaller structure ends before the last
 * fields of this version; the memory behind it is filled with poison bytes that
 * the library must not read or write. The test is linked only with the shared
 * library. */
#include <spanprof/runtime.h>
#include <stdlib.h>

#include "burn.h"
#include "check.h"

#define POISON 0x5a

#define UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

static void check_poison(const void *structure, size_t from, size_t size) {
  const unsigned char *bytes = structure;
  size_t i;

  for (i = from; i < size; i++)
    CHECK_EQUAL(bytes[i], POISON);
}

static void options_of_an_older_caller(void) {
  const size_t known = UP_TO(spanprof_options, sample_rate_hz);
  spanprof_options options;

  memset(&options, POISON, sizeof options);
  CHECK_EQUAL(spanprof_options_init(&options, known), SPANPROF_OK);
  check_poison(&options, known, sizeof options);
  CHECK_EQUAL(options.struct_size, known);
  CHECK(options.sample_rate_hz == SPANPROF_UNSET);
  /* If the library read the poison behind the known fields, it would refuse it
   * as a number, or crash on it as a text. */
  options.application_name = "older";
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_OK);
  options.sample_rate_hz = 1001;
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "sample_rate_hz"));
  /* A field that is only partly inside of the structure counts as not given. */
  options.struct_size = known - 1;
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_OK);
  check_poison(&options, known, sizeof options);
}

static void options_of_a_newer_caller(void) {
  struct {
    spanprof_options known;
    int64_t field_of_the_future;
  } options;
  spanprof_session *session = (spanprof_session *)(void *)&options;

  memset(&options, POISON, sizeof options);
  CHECK_EQUAL(spanprof_options_init(&options.known, sizeof options),
              SPANPROF_ERR_ARGUMENT);
  check_poison(&options, 0, sizeof options);
  CHECK_EQUAL(spanprof_options_init(&options.known, sizeof options.known),
              SPANPROF_OK);
  options.known.struct_size = sizeof options;
  CHECK_EQUAL(spanprof_options_check(&options.known), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_session_start(&options.known, &session),
              SPANPROF_ERR_ARGUMENT);
  CHECK(!session);
}

static void span_rules_of_an_older_caller(void) {
  const size_t known = UP_TO(spanprof_span_rules_options, add_url);
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;

  memset(&options, POISON, sizeof options);
  CHECK_EQUAL(spanprof_span_rules_options_init(&options, known), SPANPROF_OK);
  check_poison(&options, known, sizeof options);
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  spanprof_span_rules_free(rules);
  options.add_url = 3;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_ERR_ARGUMENT);
  check_poison(&options, known, sizeof options);
}

static void span_rules_of_a_newer_caller(void) {
  struct {
    spanprof_span_rules_options known;
    int64_t field_of_the_future;
  } options;
  spanprof_span_rules *rules;

  memset(&options, POISON, sizeof options);
  CHECK_EQUAL(spanprof_span_rules_options_init(&options.known, sizeof options),
              SPANPROF_ERR_ARGUMENT);
  check_poison(&options, 0, sizeof options);
  spanprof_span_rules_options_init(&options.known, sizeof options.known);
  options.known.struct_size = sizeof options;
  CHECK_EQUAL(spanprof_span_rules_new(&options.known, &rules),
              SPANPROF_ERR_ARGUMENT);
}

/* This is the first version of the structure, so there is no smaller one. */
static void span_info_of_every_version(void) {
  struct {
    spanprof_span_info known;
    uint64_t field_of_the_future;
  } info = {.known = {.name = "a", .name_bytes = 1}};
  spanprof_span span;
  size_t size;

  for (size = 0; size <= sizeof info; size++) {
    info.known.struct_size = size;
    CHECK_EQUAL(spanprof_span_start(NULL, &info.known, &span),
                size == sizeof info.known ? SPANPROF_OK
                                          : SPANPROF_ERR_ARGUMENT);
    CHECK_EQUAL(span != 0, size == sizeof info.known);
    spanprof_span_end(span);
  }
}

static void stats_of_an_older_caller(void) {
  const size_t known = UP_TO(spanprof_stats, samples_exported);
  spanprof_stats stats;

  memset(&stats, POISON, sizeof stats);
  stats.struct_size = known;
  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  CHECK_EQUAL(stats.struct_size, known);
  CHECK_EQUAL(stats.samples_exported, 0);
  check_poison(&stats, known, sizeof stats);
}

static void stats_of_a_newer_caller(void) {
  struct {
    spanprof_stats known;
    uint64_t field_of_the_future;
  } stats;

  memset(&stats, POISON, sizeof stats);
  stats.known.struct_size = sizeof stats;
  CHECK_EQUAL(spanprof_stats_get(&stats.known), SPANPROF_ERR_ARGUMENT);
  check_poison(&stats, sizeof(size_t), sizeof stats);
}

/* The struct_size of each structure that the library passes to a callback. */
static _Atomic size_t capture_size, context_size, name_size, view_size;

static size_t walk(void *data, const spanprof_capture *capture,
                   spanprof_frame *frames, size_t max, int *cut) {
  (void)data, (void)max, (void)cut;
  capture_size = capture->struct_size;
  frames[0] = (spanprof_frame){.code = 1, .flags = SPANPROF_FRAME_ENTRY};
  return 1;
}

static int read_context(void *data, const spanprof_capture *capture,
                        spanprof_context_view *out) {
  (void)data, (void)capture;
  context_size = out->struct_size;
  CHECK_EQUAL(out->labels, 0);
  CHECK_EQUAL(out->span, 0);
  /* The context is in `out`. No field is set, as by a runtime whose header has
   * no field after struct_size. */
  return 1;
}

static spanprof_status resolve(void *data, const spanprof_frame *frame,
                               spanprof_name *out) {
  (void)data, (void)frame;
  name_size = out->struct_size;
  CHECK(!out->file && out->line == 0 && out->start_line == 0);
  out->function = "older";
  out->function_bytes = 5;
  return SPANPROF_OK;
}

static void profile_see(void *data, const spanprof_profile *view) {
  (void)data;
  view_size = view->struct_size;
}

static void session_run(void) {
  spanprof_options options;
  spanprof_session *session;

  CHECK_EQUAL(spanprof_options_init(&options, sizeof options), SPANPROF_OK);
  options.application_name = "sizes";
  options.sample_rate_hz = 1000;
  options.on_profile = profile_see;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(300);
  CHECK_EQUAL(spanprof_session_stop(session, 5000), SPANPROF_OK);
}

/* The caller does not know the fields of spanprof_runtime after `resolve`. The
 * library must not read the poison in these fields or call it. */
static void runtime_of_an_older_caller(void) {
  const size_t known = UP_TO(spanprof_runtime, resolve);
  spanprof_runtime runtime;

  memset(&runtime, POISON, sizeof runtime);
  memset(&runtime, 0, known);
  runtime.struct_size = known;
  runtime.name = "older";
  runtime.walk = walk;
  runtime.read_context = read_context;
  runtime.resolve = resolve;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  session_run();
  spanprof_runtime_unregister();
  CHECK_EQUAL(capture_size, sizeof(spanprof_capture));
  CHECK_EQUAL(context_size, sizeof(spanprof_context_view));
  CHECK_EQUAL(name_size, sizeof(spanprof_name));
  CHECK_EQUAL(view_size, sizeof(spanprof_profile));
  runtime.struct_size = UP_TO(spanprof_runtime, struct_size);
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_ERR_ARGUMENT);
}

static void runtime_of_a_newer_caller(void) {
  struct {
    spanprof_runtime known;
    void *field_of_the_future;
  } runtime = {.known = {.struct_size = sizeof runtime, .name = "newer"}};

  CHECK_EQUAL(spanprof_runtime_register(&runtime.known), SPANPROF_ERR_ARGUMENT);
  runtime.known.struct_size = sizeof runtime.known;
  CHECK_EQUAL(spanprof_runtime_register(&runtime.known), SPANPROF_OK);
  spanprof_runtime_unregister();
}

static void recording_options_of_every_version(void) {
  const size_t known = UP_TO(spanprof_recording_options, scope);
  struct {
    spanprof_recording_options known;
    int64_t field_of_the_future;
  } options;
  spanprof_recording *recording;

  memset(&options, POISON, sizeof options);
  CHECK_EQUAL(spanprof_recording_options_init(&options.known, sizeof options),
              SPANPROF_ERR_ARGUMENT);
  check_poison(&options, 0, sizeof options);
  CHECK_EQUAL(spanprof_recording_options_init(&options.known, known),
              SPANPROF_OK);
  check_poison(&options, known, sizeof options);
  /* If the library read the poison after the known fields, it would refuse the
   * options. */
  CHECK_EQUAL(spanprof_recording_begin(&options.known, &recording),
              SPANPROF_OK);
  CHECK_EQUAL(spanprof_recording_end(recording, NULL), SPANPROF_OK);
  options.known.struct_size = sizeof options;
  CHECK_EQUAL(spanprof_recording_begin(&options.known, &recording),
              SPANPROF_ERR_ARGUMENT);
}

static const check_test tests[] = {
    {"options_of_an_older_caller", options_of_an_older_caller},
    {"options_of_a_newer_caller", options_of_a_newer_caller},
    {"span_rules_of_an_older_caller", span_rules_of_an_older_caller},
    {"span_rules_of_a_newer_caller", span_rules_of_a_newer_caller},
    {"span_info_of_every_version", span_info_of_every_version},
    {"recording_options_of_every_version", recording_options_of_every_version},
    {"stats_of_an_older_caller", stats_of_an_older_caller},
    {"stats_of_a_newer_caller", stats_of_a_newer_caller},
    {"runtime_of_an_older_caller", runtime_of_an_older_caller},
    {"runtime_of_a_newer_caller", runtime_of_a_newer_caller},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
