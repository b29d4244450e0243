#include <spanprof/runtime.h>

#include "check.h"
#include "collect/samples/runtime_names.h"
#include "collect/samples/sample_fold.h"
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

/* The runtime's own thread, which may have no time. */
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

static sp_fold *open_fold(void) {
  static sp_settings settings;
  sp_fold *fold;

  settings = collector_settings;
  settings.native_frames = false;
  resolved = 0;
  answers = true;
  register_toy();
  CHECK_EQUAL(sp_fold_new(&fold, &sp_mem_default, &settings, 1000),
              SPANPROF_OK);
  return fold;
}

static void close_fold(sp_fold *fold) {
  sp_fold_free(fold);
  spanprof_runtime_unregister();
}

static void sample(sp_fold *fold, uint64_t code) {
  struct {
    sp_sample sample;
    spanprof_frame frame;
  } taken = {.sample = {.ticks = 1, .frame_count = 1}, .frame = {.code = code}};

  sp_fold_sample(fold, &taken.sample);
}

static void name(sp_fold *fold) {
  sp_fold_name_frames(fold);
  sp_runtime_names_request();
  sp_fold_name_frames(fold);
}

static bool named(sp_profile *profile, uint64_t code) {
  const sp_frame frame = {.kind = SP_FRAME_RUNTIME, .code = code};
  sp_frame_name known;

  sp_profile_name(profile);
  return !sp_frame_table_name_get(sp_profile_frames(profile), &frame, &known) &&
         known.function_bytes == 2 && known.function[0] == 'f' &&
         known.function[1] == '0' + (int)code;
}

static sp_sink *record(sp_fold *fold) {
  const sp_wanted all = {.scope = SPANPROF_RECORDING_ALL};
  sp_sink *recording;

  CHECK_EQUAL(sp_fold_open(fold, &all, &recording), SPANPROF_OK);
  return recording;
}

static void recordings_get_the_names_of_the_window(void) {
  sp_fold *fold = open_fold();
  sp_sink *first, *second;

  sample(fold, 1);
  name(fold);
  first = record(fold);
  second = record(fold);
  sample(fold, 1);
  sample(fold, 2);
  name(fold);
  CHECK_EQUAL(resolved, 2);
  sp_fold_close(fold, first);
  CHECK(named(first->profile, 1));
  CHECK(named(first->profile, 2));
  sp_sink_free(first);
  sp_fold_reset(fold);
  sp_fold_close(fold, second);
  CHECK(named(second->profile, 1));
  CHECK(named(second->profile, 2));
  sp_sink_free(second);
  CHECK_EQUAL(resolved, 2);
  close_fold(fold);
}

static void a_recording_beside_a_full_window_has_names(void) {
  sp_fold *fold = open_fold();
  sp_sink *recording = record(fold);

  sp_profile_full_set(sp_fold_profile(fold), true);
  sample(fold, 3);
  name(fold);
  CHECK_EQUAL(resolved, 1);
  CHECK(!named(sp_fold_profile(fold), 3));
  CHECK(named(recording->profile, 3));
  close_fold(fold);
}

static void names_that_did_not_come_are_requested_again(void) {
  sp_fold *fold = open_fold();
  sp_sink *recording = record(fold);

  answers = false;
  sample(fold, 4);
  name(fold);
  CHECK_EQUAL(sp_fold_name_frames(fold), 1);
  sp_fold_reset(fold);
  CHECK_EQUAL(sp_fold_name_frames(fold), 1);
  sp_fold_reset(fold);
  answers = true;
  name(fold);
  CHECK_EQUAL(resolved, 1);
  CHECK(named(sp_fold_profile(fold), 4));
  CHECK(named(recording->profile, 4));
  close_fold(fold);
}

static void the_next_runtime_is_asked_within_the_window(void) {
  sp_fold *fold = open_fold();

  sample(fold, 5);
  CHECK_EQUAL(sp_fold_name_frames(fold), 1);
  spanprof_runtime_unregister();
  register_toy();
  name(fold);
  CHECK_EQUAL(resolved, 1);
  CHECK(named(sp_fold_profile(fold), 5));
  close_fold(fold);
}

static const check_test tests[] = {
    {"the_next_runtime_is_asked_within_the_window",
     the_next_runtime_is_asked_within_the_window},
    {"recordings_get_the_names_of_the_window",
     recordings_get_the_names_of_the_window},
    {"a_recording_beside_a_full_window_has_names",
     a_recording_beside_a_full_window_has_names},
    {"names_that_did_not_come_are_requested_again",
     names_that_did_not_come_are_requested_again},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
