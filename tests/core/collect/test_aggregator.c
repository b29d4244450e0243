#include <spanprof/runtime.h>

#include "check.h"
#include "collect/samples/runtime_names.h"
#include "collect/samples/aggregator.h"
#include "collector_settings.h"

static int resolved;
static bool answers;

static size_t walk_nothing(void *data, const spanprof_capture *capture,
                           spanprof_frame *frames, size_t max, int *cut) {
  (void)data, (void)capture, (void)frames, (void)max, (void)cut;
  return 0;
}

static spanprof_status resolve(void *data, const spanprof_frame *frame,
                               spanprof_name *out) {
  static char text[32];

  (void)data;
  resolved++;
  out->function = text;
  out->function_bytes =
      (size_t)snprintf(text, sizeof text, "f%d", (int)frame->code);
  return SPANPROF_OK;
}

/* The runtime's want_names: resolves the frames immediately. A real runtime
 * resolves them on a thread of its own, but in a test that thread might get no
 * CPU time. */
static void want(void *data) {
  (void)data;
  if (answers)
    spanprof_runtime_resolve(SIZE_MAX);
}

static void register_toy(void) {
  const spanprof_runtime runtime = {.struct_size = sizeof runtime,
                                    .name = "toy",
                                    .walk = walk_nothing,
                                    .resolve = resolve,
                                    .want_names = want};

  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
}

static sp_aggregator *aggregator_open(void) {
  static sp_settings settings;
  sp_aggregator *aggregator;

  settings = collector_settings;
  settings.native_frames = SPANPROF_NATIVE_FRAMES_NONE;
  resolved = 0;
  answers = true;
  register_toy();
  CHECK_EQUAL(sp_aggregator_new(&aggregator, &sp_mem_default, &settings, 1000),
              SPANPROF_OK);
  return aggregator;
}

static void aggregator_close(sp_aggregator *aggregator) {
  sp_aggregator_free(aggregator);
  spanprof_runtime_unregister();
}

static void sample(sp_aggregator *aggregator, uint64_t code) {
  struct {
    sp_sample sample;
    spanprof_frame frame;
  } taken = {.sample = {.ticks = 1, .frame_count = 1}, .frame = {.code = code}};

  sp_aggregator_add(aggregator, &taken.sample);
}

static void name(sp_aggregator *aggregator) {
  sp_aggregator_name_frames(aggregator);
  sp_runtime_names_request();
  sp_aggregator_name_frames(aggregator);
}

static bool named(sp_profile *profile, uint64_t code) {
  const sp_frame frame = {.kind = SP_FRAME_RUNTIME, .code = code};
  sp_frame_name known;

  sp_profile_name(profile);
  return !sp_frame_table_name_get(sp_profile_frames(profile), &frame, &known) &&
         known.function_bytes == 2 && known.function[0] == 'f' &&
         known.function[1] == '0' + (int)code;
}

static sp_sink *record(sp_aggregator *aggregator) {
  const sp_selection all = {.scope = SPANPROF_RECORDING_ALL};
  sp_sink *recording;

  CHECK_EQUAL(sp_aggregator_open_sink(aggregator, &all, &recording),
              SPANPROF_OK);
  return recording;
}

static void recordings_get_the_names_of_the_window(void) {
  sp_aggregator *aggregator = aggregator_open();
  sp_sink *first, *second;

  sample(aggregator, 1);
  name(aggregator);
  first = record(aggregator);
  second = record(aggregator);
  sample(aggregator, 1);
  sample(aggregator, 2);
  name(aggregator);
  CHECK_EQUAL(resolved, 2);
  sp_aggregator_close_sink(aggregator, first);
  CHECK(named(first->profile, 1));
  CHECK(named(first->profile, 2));
  sp_sink_free(first);
  sp_aggregator_reset(aggregator);
  sp_aggregator_close_sink(aggregator, second);
  CHECK(named(second->profile, 1));
  CHECK(named(second->profile, 2));
  sp_sink_free(second);
  CHECK_EQUAL(resolved, 2);
  aggregator_close(aggregator);
}

static void a_recording_has_names_if_the_window_is_full(void) {
  sp_aggregator *aggregator = aggregator_open();
  sp_sink *recording = record(aggregator);

  sp_profile_full_set(sp_aggregator_profile(aggregator), true);
  sample(aggregator, 3);
  name(aggregator);
  CHECK_EQUAL(resolved, 1);
  CHECK(!named(sp_aggregator_profile(aggregator), 3));
  CHECK(named(recording->profile, 3));
  aggregator_close(aggregator);
}

static void missing_names_are_requested_again(void) {
  sp_aggregator *aggregator = aggregator_open();
  sp_sink *recording = record(aggregator);

  answers = false;
  sample(aggregator, 4);
  name(aggregator);
  CHECK_EQUAL(sp_aggregator_name_frames(aggregator), 1);
  sp_aggregator_reset(aggregator);
  CHECK_EQUAL(sp_aggregator_name_frames(aggregator), 1);
  sp_aggregator_reset(aggregator);
  answers = true;
  name(aggregator);
  CHECK_EQUAL(resolved, 1);
  CHECK(named(sp_aggregator_profile(aggregator), 4));
  CHECK(named(recording->profile, 4));
  aggregator_close(aggregator);
}

static void a_new_runtime_names_frames_of_the_window(void) {
  sp_aggregator *aggregator = aggregator_open();

  sample(aggregator, 5);
  CHECK_EQUAL(sp_aggregator_name_frames(aggregator), 1);
  spanprof_runtime_unregister();
  register_toy();
  name(aggregator);
  CHECK_EQUAL(resolved, 1);
  CHECK(named(sp_aggregator_profile(aggregator), 5));
  aggregator_close(aggregator);
}

static const check_test tests[] = {
    {"a_new_runtime_names_frames_of_the_window",
     a_new_runtime_names_frames_of_the_window},
    {"recordings_get_the_names_of_the_window",
     recordings_get_the_names_of_the_window},
    {"a_recording_has_names_if_the_window_is_full",
     a_recording_has_names_if_the_window_is_full},
    {"missing_names_are_requested_again", missing_names_are_requested_again},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
