/* The conversion of a checked profile to the stored form. */
#include "failing_mem.h"
#include "pprof_message.h"
#include "server/receive/profile/build.h"

static size_t negative_count; /* negative values in the last profile that was
                               * built */

static void labels_for(sp_series_labels *labels, const sp_mem *mem) {
  sp_series_labels_init(labels, mem);
  sp_series_labels_add(labels, sp_view_text("__name__"),
                       sp_view_text("process_cpu"));
  sp_series_labels_add(labels, sp_view_text("region"), sp_view_text("eu"));
  sp_series_labels_add(labels, sp_view_text("service_name"),
                       sp_view_text("shop"));
}

static spanprof_status build_on(const sp_mem *mem, const message *m,
                                sp_received **out, char *sentence) {
  sp_series_labels labels;
  spanprof_status st;
  size_t next = 0;
  pprof_case c;

  pprof_case_init(&c, mem);
  labels_for(&labels, mem);
  *out = NULL;
  negative_count = 0;
  st = sp_raw_read(&c.raw, &c.arena, message_view(m), &c.refusal);
  if (!st)
    st = sp_build(out, &c.raw, &labels, &sp_limits_pyroscope, &next,
                  &negative_count, &c.refusal);
  snprintf(sentence, 200, "%s", sp_refusal_text(&c.refusal));
  sp_series_labels_dispose(&labels);
  pprof_case_dispose(&c);
  return st;
}

/* Build a valid profile. Frees `m`. */
static sp_received *build_good(message *m) {
  char sentence[200];
  sp_received *out;

  CHECK(!build_on(&sp_mem_default, m, &out, sentence));
  message_free(m);
  return out;
}

static void series_and_samples_have_their_labels(void) {
  message m = pprof_head("thread", "w");
  sp_received *out;

  message_inner(&m, 2, pprof_sample(30, PPROF_KEY, PPROF_TEXT));
  message_inner(&m, 2, pprof_sample(20, 0, 0));
  out = build_good(&m);
  CHECK_EQUAL(out->sample_count, 2);
  CHECK_TEXT(sp_received_label(out, out->series, "region"), "eu");
  CHECK_TEXT(sp_received_label(out, out->samples[0].labels, "thread"), "w");
  CHECK_EQUAL(out->samples[1].labels, 0);
  CHECK_EQUAL(out->stacks[out->samples[0].stack].count, 2);
  sp_received_free(out);
}

static void equal_samples_are_summed(void) {
  message m = pprof_head("span_id", "9A517183f26a089d");
  sp_received *out;

  message_inner(&m, 2, pprof_sample(30, 0, 0));
  message_inner(&m, 2, pprof_sample(12, 0, 0));
  message_inner(&m, 2, pprof_sample(5, PPROF_KEY, PPROF_TEXT));
  out = build_good(&m);
  CHECK_EQUAL(out->sample_count, 2);
  CHECK_EQUAL(out->values[out->samples[0].values], 42);
  CHECK(out->samples[1].span_id == UINT64_C(0x9a517183f26a089d));
  CHECK_EQUAL(out->samples[1].labels, 0);
  sp_received_free(out);
}

static void labels_of_the_series_take_precedence(void) {
  message m = pprof_head("region", "us");
  sp_received *out;

  message_inner(&m, 2, pprof_sample(30, PPROF_KEY, PPROF_TEXT));
  out = build_good(&m);
  CHECK_EQUAL(out->samples[0].labels, 0);
  sp_received_free(out);
}

static message sample_at(uint64_t leaf, int64_t value) {
  message sample = message_new();

  message_number(&sample, 1, leaf);
  message_number(&sample, 1, 1);
  message_number(&sample, 2, (uint64_t)value);
  return sample;
}

/* Check the value of a sample, and return the name of its innermost
 * function. */
static const char *leaf_of(const sp_received *out, size_t i, int64_t value) {
  const sp_received_sample *sample = &out->samples[i];
  const sp_received_stack *stack = &out->stacks[sample->stack];
  const sp_received_location *leaf =
      &out->locations[out->stack_frames[stack->first]];
  const sp_received_line *line = &out->lines[leaf->first_line];

  CHECK_EQUAL(stack->count, 2);
  CHECK_EQUAL(out->values[sample->values], value);
  return sp_received_text_of(out, out->functions[line->function].name);
}

static void mapping(message *m, uint64_t id, uint64_t file) {
  message inner = message_new();

  message_number(&inner, 1, id);
  message_number(&inner, 5, file);
  message_inner(m, 3, inner);
}

static void location_without_line(message *m, uint64_t id, uint64_t mapping,
                                  uint64_t address) {
  message inner = message_new();

  message_number(&inner, 1, id);
  message_number(&inner, 2, mapping);
  message_number(&inner, 3, address);
  message_inner(m, 4, inner);
}

static void a_location_without_a_function_is_a_frame_of_its_module(void) {
  message m = pprof_head("k", "/usr/lib/libz.so.1");
  sp_received *out;

  message_text(&m, 6, "[vdso]");
  mapping(&m, 1, PPROF_TEXT);
  mapping(&m, 2, PPROF_TEXT_COUNT);
  location_without_line(&m, 3, 1, 0x1000);
  location_without_line(&m, 4, 1, 0x2000);
  location_without_line(&m, 5, 2, 0x1000);
  location_without_line(&m, 6, 0, 0x1000);
  location_without_line(&m, 7, 99, 0);
  message_inner(&m, 4, pprof_location(8, 99));
  message_inner(&m, 4, pprof_location(9, 3));
  message_inner(&m, 5, pprof_function(3, PPROF_EMPTY));
  message_inner(&m, 2, sample_at(3, 1));
  message_inner(&m, 2, sample_at(4, 2));
  message_inner(&m, 2, sample_at(5, 4));
  message_inner(&m, 2, sample_at(6, 8));
  message_inner(&m, 2, sample_at(7, 16));
  message_inner(&m, 2, sample_at(8, 32));
  message_inner(&m, 2, sample_at(9, 64));
  message_inner(&m, 2, sample_at(77, 128)); /* this location is not in the
                                             * table */
  out = build_good(&m);
  CHECK_EQUAL(out->sample_count, 4);
  CHECK_TEXT(leaf_of(out, 0, 3), "[libz.so.1]");
  CHECK_TEXT(leaf_of(out, 1, 4), "[vdso]");
  CHECK_TEXT(leaf_of(out, 2, 152), "[unknown]");
  CHECK_TEXT(leaf_of(out, 3, 96), "[unknown]"); /* a location with a line, whose
                                                 * function has no name */
  sp_received_free(out);
}

static void function_with_file(message *m, uint64_t id, uint64_t file) {
  message inner = pprof_function(id, PPROF_LEAF);

  message_number(&inner, 4, file);
  message_inner(m, 5, inner);
}

static void location_of_module(message *m, uint64_t id, uint64_t function,
                               uint64_t mapping) {
  message inner = pprof_location(id, function);

  message_number(&inner, 2, mapping);
  message_inner(m, 4, inner);
}

static const char *file_of_leaf(const sp_received *out, size_t i) {
  const sp_received_stack *stack = &out->stacks[out->samples[i].stack];
  const sp_received_location *leaf =
      &out->locations[out->stack_frames[stack->first]];
  const sp_received_line *line = &out->lines[leaf->first_line];

  return sp_received_text_of(out, out->functions[line->function].file);
}

static void a_module_is_the_file_of_a_function_without_a_file(void) {
  message m = pprof_head("k", "/usr/lib/libz.so.1");
  sp_received *out;

  message_text(&m, 6, "zlib.c");
  mapping(&m, 1, PPROF_TEXT);
  function_with_file(&m, 3, PPROF_EMPTY);
  function_with_file(&m, 4, PPROF_TEXT_COUNT);
  location_of_module(&m, 3, 3, 1);
  location_of_module(&m, 4, 4, 1);
  location_of_module(&m, 5, 3, 0);
  message_inner(&m, 2, sample_at(3, 1));
  message_inner(&m, 2, sample_at(4, 2));
  message_inner(&m, 2, sample_at(5, 4));
  out = build_good(&m);
  CHECK_EQUAL(out->sample_count, 3);
  CHECK_TEXT(file_of_leaf(out, 0), "libz.so.1");
  CHECK_TEXT(file_of_leaf(out, 1), "zlib.c");
  CHECK_TEXT(file_of_leaf(out, 2), "");
  sp_received_free(out);
}

static void a_negative_value_does_not_affect_other_values(void) {
  message m = pprof_head("k", "v"), sample = pprof_sample(5, 0, 0);
  sp_received *out;

  message_inner(&m, 1, pprof_value_type(PPROF_KEY, PPROF_NANOSECONDS));
  message_number(&sample, 2, (uint64_t)-7);
  message_inner(&m, 2, sample);
  out = build_good(&m);
  CHECK_EQUAL(out->values[out->samples[0].values], 5);
  CHECK_EQUAL(out->values[out->samples[0].values + 1], 0);
  CHECK_EQUAL(negative_count, 1);
  sp_received_free(out);
}

static void innermost_frames_of_deep_stacks_are_cut(void) {
  message m = pprof_head("k", "v"), sample = message_new();
  const sp_received_stack *stack;
  sp_received *out;
  size_t i;

  for (i = 0; i < sp_limits_pyroscope.frames; i++)
    message_number(&sample, 1, 1);
  message_number(&sample, 1, 2);
  message_number(&sample, 2, 1);
  message_inner(&m, 2, sample);
  out = build_good(&m);
  stack = &out->stacks[out->samples[0].stack];
  CHECK_EQUAL(stack->count, sp_limits_pyroscope.frames);
  CHECK(out->stack_frames[stack->first + stack->count - 1] !=
        out->stack_frames[stack->first]);
  sp_received_free(out);
}

/* Each sample is in exactly one part, and each part is a complete profile. */
static void a_large_profile_is_built_in_parts(void) {
  message m = pprof_head("k", "v");
  sp_limits limits = sp_limits_own;
  size_t next = 0, negative = 0, parts = 0, i;
  int64_t sum = 0;
  sp_series_labels labels;
  sp_received *out;
  pprof_case c;

  limits.part_bytes = 1;
  for (i = 1; i <= 10; i++)
    message_inner(&m, 2, pprof_sample((int64_t)i, PPROF_KEY, PPROF_TEXT));
  pprof_case_init(&c, &sp_mem_default);
  labels_for(&labels, &sp_mem_default);
  CHECK(!sp_raw_read(&c.raw, &c.arena, message_view(&m), &c.refusal));
  while (next < c.raw.sample_count) {
    CHECK(!sp_build(&out, &c.raw, &labels, &limits, &next, &negative,
                    &c.refusal));
    CHECK_EQUAL(out->stacks[out->samples[0].stack].count, 2);
    CHECK_TEXT(sp_received_label(out, out->samples[0].labels, "k"), "v");
    sum += out->values[out->samples[0].values];
    parts++;
    sp_received_free(out);
  }
  CHECK_EQUAL(parts, 10);
  CHECK_EQUAL(sum, 55);
  sp_series_labels_dispose(&labels);
  pprof_case_dispose(&c);
  message_free(&m);
}

static void type_arguments_of_go_are_omitted(void) {
  static const char *const cases[][2] = {
      {"main.burn[go.shape.int]", "main.burn[...]"},
      {"a.(*Set[go.shape.struct { x []int }]).Add", "a.(*Set[...]).Add"},
      {"a.f[go.shape.int,go.shape.string].func1", "a.f[...].func1"},
      {"a.f[go.shape.int", "a.f[go.shape.int"},
      {"a.f[...]", "a.f[...]"}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    message m = pprof_head("k", cases[i][0]), function = message_new();
    sp_received *out;

    message_number(&function, 1, 2);
    message_number(&function, 2, PPROF_TEXT);
    message_inner(&m, 5, function);
    message_inner(&m, 2, pprof_sample(1, 0, 0));
    out = build_good(&m);
    CHECK_TEXT(leaf_of(out, 0, 1), cases[i][1]);
    sp_received_free(out);
  }
}

static void the_last_of_equal_ids_counts(void) {
  message m = pprof_head("k", "v");
  sp_received *out;

  message_inner(&m, 4, pprof_location(2, 1));
  message_inner(&m, 2, pprof_sample(30, 0, 0));
  out = build_good(&m);
  CHECK_EQUAL(out->location_count, 1);
  sp_received_free(out);
}

static void an_overflowing_sum_is_omitted(void) {
  message m = pprof_head("k", "v");
  sp_received *out;

  message_inner(&m, 2, pprof_sample(INT64_MAX, 0, 0));
  message_inner(&m, 2, pprof_sample(1, 0, 0));
  out = build_good(&m);
  CHECK_EQUAL(out->sample_count, 1);
  CHECK_EQUAL(out->samples[0].stack, 0);
  sp_received_free(out);
}

static void equal_types_are_summed(void) {
  message m = pprof_head("k", "v"), sample = pprof_sample(3, 0, 0);
  sp_received *out;

  message_inner(&m, 1, pprof_value_type(PPROF_CPU, PPROF_NANOSECONDS));
  message_number(&sample, 2, 5);
  message_inner(&m, 2, sample);
  out = build_good(&m);
  CHECK_EQUAL(out->type_count, 1);
  CHECK_EQUAL(out->values[out->samples[0].values], 8);
  sp_received_free(out);
}

static void a_nul_in_a_name_is_replaced(void) {
  message m = pprof_head("k", "v"), function = message_new();
  const char *name;
  sp_received *out;

  message_bytes(&m, 6, "le\0af", 5);
  message_number(&function, 1, 2);
  message_number(&function, 2, PPROF_TEXT_COUNT);
  message_inner(&m, 5, function);
  message_inner(&m, 2, pprof_sample(1, 0, 0));
  out = build_good(&m);
  name = sp_received_text_of(out, out->functions[0].name);
  CHECK_TEXT(name, "le?af");
  sp_received_free(out);
}

static void too_many_labels_are_refused(void) {
  message m = pprof_head("k", "v"), sample = pprof_sample(3, 0, 0), label;
  char name[16], sentence[200];
  sp_received *out;
  size_t i;

  for (i = 0; i < 28; i++) {
    snprintf(name, sizeof name, "l%zu", i);
    message_text(&m, 6, name);
    label = message_new();
    message_number(&label, 1, PPROF_TEXT_COUNT + i);
    message_number(&label, 2, PPROF_TEXT);
    message_inner(&sample, 3, label);
  }
  message_inner(&m, 2, sample);
  CHECK(build_on(&sp_mem_default, &m, &out, sentence) == SPANPROF_ERR_FORMAT);
  CHECK(!out);
  CHECK(strncmp(sentence, "profile series '{__name__=\"process_cpu\", l0=\"v\"",
                40) == 0);
  message_free(&m);
}

static void sweep(const sp_mem *mem) {
  message m = pprof_head("thread", "w");
  char sentence[200];
  sp_received *out;

  message_inner(&m, 2, pprof_sample(30, PPROF_KEY, PPROF_TEXT));
  message_inner(&m, 2, pprof_sample(20, 0, 0));
  build_on(mem, &m, &out, sentence);
  sp_received_free(out);
  message_free(&m);
}

static void failed_allocations_are_handled(void) {
  failing_mem_sweep(sweep);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"series_and_samples_have_their_labels",
       series_and_samples_have_their_labels},
      {"equal_samples_are_summed", equal_samples_are_summed},
      {"labels_of_the_series_take_precedence",
       labels_of_the_series_take_precedence},
      {"a_location_without_a_function_is_a_frame_of_its_module",
       a_location_without_a_function_is_a_frame_of_its_module},
      {"a_module_is_the_file_of_a_function_without_a_file",
       a_module_is_the_file_of_a_function_without_a_file},
      {"a_negative_value_does_not_affect_other_values",
       a_negative_value_does_not_affect_other_values},
      {"innermost_frames_of_deep_stacks_are_cut",
       innermost_frames_of_deep_stacks_are_cut},
      {"a_large_profile_is_built_in_parts", a_large_profile_is_built_in_parts},
      {"type_arguments_of_go_are_omitted", type_arguments_of_go_are_omitted},
      {"the_last_of_equal_ids_counts", the_last_of_equal_ids_counts},
      {"an_overflowing_sum_is_omitted", an_overflowing_sum_is_omitted},
      {"equal_types_are_summed", equal_types_are_summed},
      {"a_nul_in_a_name_is_replaced", a_nul_in_a_name_is_replaced},
      {"too_many_labels_are_refused", too_many_labels_are_refused},
      {"failed_allocations_are_handled", failed_allocations_are_handled},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
