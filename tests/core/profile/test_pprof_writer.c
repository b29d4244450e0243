#include "profile_fixture.h"

#include "label/label_set.h"
#include "util/system/counters.h"

static spanprof_labels push(const char *name, const char *value) {
  spanprof_label_token token;

  CHECK_EQUAL(spanprof_label_push_bytes(name, strlen(name), value,
                                        strlen(value), &token),
              SPANPROF_OK);
  return spanprof_labels_get();
}

static void pop_all(void) {
  spanprof_labels_set(0);
}

static spanprof_span start_span(const spanprof_span_rules *rules,
                                const char *name) {
  spanprof_span_info info = {
      .struct_size = sizeof info,
      .trace_id = {0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
      .span_id = {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3},
      .flags = SPANPROF_SPAN_SAMPLED,
      .name = name,
      .name_bytes = strlen(name)};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(rules, &info, &span), SPANPROF_OK);
  CHECK(span != 0);
  return span;
}

/* Encode the profile, which has one sample, and return the sample. */
static const sp_pprof_sample *only_sample(profile_fixture *fixture) {
  CHECK_EQUAL(fixture_encode(fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture->part_count, 1);
  CHECK_EQUAL(fixture->parts[0]->sample_count, 1);
  return &fixture->parts[0]->samples[0];
}

static void start_with_sample(profile_fixture *fixture, sp_frame frame,
                              spanprof_labels labels, spanprof_span span) {
  CHECK_EQUAL(fixture_start(fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(fixture, &frame, 1, labels, span), SPANPROF_OK);
}

static void sample_carries_labels_and_span(void) {
  spanprof_span span = start_span(NULL, "GET /books");
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_labels labels;

  push("phase", "outer");
  push("shard", "7");
  labels = push("phase", "inner");
  pop_all();
  fixture_open(&fixture);
  start_with_sample(&fixture, fixture_method(1, 1), labels, span);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 4);
  CHECK_TEXT(sp_pprof_label_text(sample, "phase"), "inner");
  CHECK_TEXT(sp_pprof_label_text(sample, "shard"), "7");
  CHECK_TEXT(sp_pprof_label_text(sample, "profile_id"), "deadbeef00010203");
  CHECK_TEXT(sp_pprof_label_text(sample, "span_name"), "GET /books");
  fixture_close(&fixture);
  spanprof_span_end(span);
}

static void trace_id_and_legacy_label_are_optional(void) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.add_trace_id = 1;
  options.legacy_span_label = 1;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  span = start_span(rules, "job");
  fixture_open(&fixture);
  start_with_sample(&fixture, fixture_method(1, 1), 0, span);
  sample = only_sample(&fixture);
  CHECK_TEXT(sp_pprof_label_text(sample, "trace_id"),
             "ab0102030405060708090a0b0c0d0e0f");
  CHECK_TEXT(sp_pprof_label_text(sample, "span"), "job");
  CHECK(!sp_pprof_label_text(sample, "span_name"));
  fixture_close(&fixture);
  spanprof_span_end(span);
  spanprof_span_rules_free(rules);
}

static void the_id_label_follows_the_rules(void) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;
  const sp_pprof_sample *sample;
  spanprof_labels labels;
  profile_fixture fixture;
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.span_id_label = 1;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  span = start_span(rules, "job");
  labels = push("profile_id", "0123456789abcdef");
  pop_all();
  fixture_open(&fixture);
  start_with_sample(&fixture, fixture_method(1, 1), labels, span);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 2);
  CHECK_TEXT(sp_pprof_label_text(sample, "span_id"), "deadbeef00010203");
  CHECK_TEXT(sp_pprof_label_text(sample, "span_name"), "job");
  fixture_close(&fixture);
  spanprof_span_end(span);
  spanprof_span_rules_free(rules);
}

static void span_labels_replace_labels_of_the_same_name(void) {
  spanprof_span span = start_span(NULL, "real");
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_labels labels;

  push("profile_id", "0123456789abcdef");
  push("span_id", "0123456789abcdef");
  push("span_name", "forged");
  labels = push("phase", "read");
  pop_all();
  fixture_open(&fixture);
  start_with_sample(&fixture, fixture_method(1, 1), labels, span);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 3);
  CHECK_TEXT(sp_pprof_label_text(sample, "profile_id"), "deadbeef00010203");
  CHECK_TEXT(sp_pprof_label_text(sample, "span_name"), "real");
  CHECK_TEXT(sp_pprof_label_text(sample, "phase"), "read");
  fixture_close(&fixture);
  spanprof_span_end(span);
}

static void without_a_span_its_label_names_are_usable(void) {
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_labels labels = push("span_name", "by hand");

  pop_all();
  fixture_open(&fixture);
  start_with_sample(&fixture, fixture_method(1, 1), labels, 0);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 1);
  CHECK_TEXT(sp_pprof_label_text(sample, "span_name"), "by hand");
  fixture_close(&fixture);
}

static void renamed_span_has_its_last_name(void) {
  spanprof_span span = start_span(NULL, "GET");
  const sp_pprof_sample *sample;
  profile_fixture fixture;

  fixture_open(&fixture);
  start_with_sample(&fixture, fixture_method(1, 1), 0, span);
  spanprof_span_rename(span, "GET /books/:id", 14);
  spanprof_span_end(span);
  sample = only_sample(&fixture);
  CHECK_TEXT(sp_pprof_label_text(sample, "span_name"), "GET /books/:id");
  fixture_close(&fixture);
}

static void static_label_replaces_a_samples_label(void) {
  sp_pair statics[] = {{(char *)"region", (char *)"eu"}};
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_labels labels;

  push("region", "us");
  push("service_name", "other");
  labels = push("phase", "read");
  pop_all();
  fixture_open(&fixture);
  fixture.settings.labels = statics;
  fixture.settings.label_count = 1;
  start_with_sample(&fixture, fixture_method(1, 1), labels, 0);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 1);
  CHECK_TEXT(sp_pprof_label_text(sample, "phase"), "read");
  fixture_close(&fixture);
}

static void exported_names_have_no_dots(void) {
  sp_pair statics[] = {{(char *)"host_name", (char *)"a"}};
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_labels labels;

  push("http.route", "/outer");
  push("db_system", "given");
  push("db.system", "dotted");
  push("host.name", "b");
  push("process.runtime.name", "ruby");
  push("process.runtime.kind", "x");
  push("a.b_c", "1");
  labels = push("a_b.c", "2");
  pop_all();
  fixture_open(&fixture);
  fixture.settings.labels = statics;
  fixture.settings.label_count = 1;
  start_with_sample(&fixture, fixture_method(1, 1), labels, 0);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 4);
  CHECK_TEXT(sp_pprof_label_text(sample, "http_route"), "/outer");
  CHECK_TEXT(sp_pprof_label_text(sample, "db_system"), "given");
  CHECK_TEXT(sp_pprof_label_text(sample, "process.runtime.kind"), "x");
  CHECK_TEXT(sp_pprof_label_text(sample, "a_b_c"), "2");
  fixture_close(&fixture);
}

static void names_keep_dots_if_configured(void) {
  const sp_pprof_sample *sample;
  profile_fixture fixture;
  spanprof_labels labels;

  push("db_system", "given");
  labels = push("db.system", "dotted");
  pop_all();
  fixture_open(&fixture);
  fixture.settings.dotted_label_names = true;
  start_with_sample(&fixture, fixture_method(1, 1), labels, 0);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 2);
  CHECK_TEXT(sp_pprof_label_text(sample, "db.system"), "dotted");
  CHECK_TEXT(sp_pprof_label_text(sample, "db_system"), "given");
  fixture_close(&fixture);
}

/* A series may have 30 names: 6 of every series, 2 static ones, 2 reserved for
 * the span, 1 for a Resource, and so 19 of the sample. */
static void labels_above_the_servers_cap_are_dropped_and_counted(void) {
  sp_pair statics[] = {{(char *)"region", (char *)"eu"},
                       {(char *)"zone", (char *)"a"}};
  uint64_t before = sp_counted(&sp_counts.labels_capped);
  const sp_pprof_sample *sample;
  spanprof_labels labels = 0;
  profile_fixture fixture;
  char name[32];
  int i;

  for (i = 0; i < 25; i++) {
    snprintf(name, sizeof name, "label_%02d", i);
    labels = push(name, "x");
  }
  pop_all();
  fixture_open(&fixture);
  fixture.settings.labels = statics;
  fixture.settings.label_count = 2;
  start_with_sample(&fixture, fixture_method(1, 1), labels, 0);
  sample = only_sample(&fixture);
  CHECK_EQUAL(sample->label_count, 19);
  CHECK(sp_pprof_label_text(sample, "label_00"));
  CHECK(sp_pprof_label_text(sample, "label_18"));
  CHECK(!sp_pprof_label_text(sample, "label_19"));
  CHECK_EQUAL(sp_counted(&sp_counts.labels_capped) - before, 6);
  CHECK_EQUAL(sp_profile_notes_get(fixture.profile).labels_capped, 6);
  sp_profile_reset(fixture.profile);
  CHECK_EQUAL(sp_profile_notes_get(fixture.profile).labels_capped, 0);
  fixture_close(&fixture);
}

static void order_of_labels_does_not_split_samples(void) {
  const sp_frame frame = fixture_method(1, 1);
  spanprof_labels one, other;
  profile_fixture fixture;

  push("a", "1");
  one = push("b", "2");
  pop_all();
  push("b", "2");
  push("a", "0");
  other = push("a", "1");
  pop_all();
  CHECK(one != other);
  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, &frame, 1, one, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, &frame, 1, other, 0), SPANPROF_OK);
  CHECK_EQUAL(only_sample(&fixture)->values[0], 20000000);
  fixture_close(&fixture);
}

static void main_binary_is_the_first_mapping(void) {
  const sp_frame stack[] = {fixture_native(FIXTURE_LIBRARY, 0x10),
                            fixture_native(FIXTURE_MAIN, 0x20),
                            fixture_method(1, 1)};
  profile_fixture fixture;
  const sp_pprof *profile;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 3, 0, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  profile = fixture.parts[0];
  CHECK_EQUAL(profile->mapping_count, 2);
  CHECK_TEXT(profile->mappings[0].file, fixture.main_path);
  CHECK_TEXT(profile->mappings[0].build_id, "0123456789abcdef");
  CHECK_EQUAL(profile->mappings[0].limit, 0x100000);
  CHECK_TEXT(profile->mappings[1].file, "/usr/lib/libfixture.so.1");
  CHECK_EQUAL(profile->locations[0].mapping, 1);
  CHECK_EQUAL(profile->locations[0].address, 0x10);
  CHECK_EQUAL(profile->locations[1].mapping, 0);
  CHECK_EQUAL(profile->locations[2].mapping, SP_PPROF_NONE);
  CHECK_EQUAL(profile->locations[2].lines[0].line, 1);
  CHECK_TEXT(profile->functions[profile->locations[2].lines[0].function].file,
             "/srv/app/app.rb");
  fixture_close(&fixture);
}

static void frames_without_a_symbol_have_a_name(void) {
  const sp_frame stack[] = {fixture_native(FIXTURE_STRIPPED, 0x1a2b),
                            fixture_native(FIXTURE_NO_MODULE, 0x7f0000001000),
                            {SP_FRAME_NOTE, 0, SP_NOTE_THREAD_END, 0}};
  const sp_pprof_sample *sample;
  profile_fixture fixture;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 3, 0, 0), SPANPROF_OK);
  sample = only_sample(&fixture);
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 0),
             "stripped.so+0x1a2b");
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 1), "[unknown]");
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 2), "[thread end]");
  CHECK_EQUAL(fixture.parts[0]->locations[1].address, 0x7f0000001000);
  fixture_close(&fixture);
}

static void frames_of_a_nameless_function_are_one_function(void) {
  const sp_frame stack[] = {fixture_native(FIXTURE_STRIPPED, 0x1a2b),
                            fixture_native(FIXTURE_STRIPPED, 0x1a40)};
  const sp_pprof_sample *sample;
  profile_fixture fixture;

  fixture_open(&fixture);
  fixture.code_start = 0x1a00;
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 2, 0, 0), SPANPROF_OK);
  sample = only_sample(&fixture);
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 0),
             "stripped.so+0x1a00");
  CHECK_EQUAL(fixture.parts[0]->function_count, 1);
  CHECK_EQUAL(fixture.parts[0]->location_count, 2);
  CHECK_EQUAL(fixture.parts[0]->locations[1].address, 0x1a40);
  fixture_close(&fixture);
}

/* If the frame has no address, its location has the address of the mapping's
 * start. */
static void a_module_frame_has_an_address_in_the_module(void) {
  const sp_frame stack[] = {
      {.kind = SP_FRAME_MODULE, .module = FIXTURE_LIBRARY},
      {.kind = SP_FRAME_MODULE, .module = FIXTURE_NO_MODULE}};
  const sp_pprof_sample *sample;
  profile_fixture fixture;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 2, 0, 0), SPANPROF_OK);
  sample = only_sample(&fixture);
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 0), "function_0");
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 1), "[unknown]");
  CHECK_EQUAL(fixture.parts[0]->locations[0].address, 0x1000);
  CHECK_EQUAL(fixture.parts[0]->locations[1].address, 0);
  fixture_close(&fixture);
}

/* The name that odd_name() returns for every frame; it is long or invalid. */
typedef struct odd_names {
  const char *function;
  size_t function_bytes;
} odd_names;

static spanprof_status odd_name(void *data, const sp_frame *frame,
                                sp_frame_name *out) {
  const odd_names *odd = data;

  (void)frame;
  *out = (sp_frame_name){.function = odd->function,
                         .function_bytes = odd->function_bytes,
                         .file = odd->function,
                         .file_bytes = odd->function_bytes,
                         .line = -5,
                         .start_line = -6};
  return SPANPROF_OK;
}

static void check_odd_name(const char *name, size_t bytes,
                           const char *expected) {
  odd_names odd = {name, bytes};
  const sp_pprof_sample *sample;
  profile_fixture fixture;

  fixture_open(&fixture);
  fixture.namer = (sp_namer){odd_name, &odd};
  start_with_sample(&fixture, fixture_method(1, 1), 0, 0);
  sample = only_sample(&fixture);
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 0), expected);
  CHECK_EQUAL(fixture.parts[0]->locations[0].lines[0].line, 0);
  fixture_close(&fixture);
}

static void odd_names_become_valid(void) {
  char expected[1001], *large = malloc(1 << 20);
  size_t i;

  CHECK(large);
  check_odd_name("caf\xe9", 4, "caf?");
  check_odd_name("a\0b\nc", 5, "a?b?c");
  check_odd_name("gr\xc3\xb6\xc3\x9f"
                 "er",
                 8,
                 "gr\xc3\xb6\xc3\x9f"
                 "er");
  /* The name is one byte, then two-byte characters, so its last 1,000 bytes
   * begin with a whole character. */
  memset(large, 'x', 1 << 20);
  for (i = 1; i + 1 < 1 << 20; i += 2)
    memcpy(large + i, "\xc3\xb6", 2);
  for (i = 0; i < 1000; i += 2)
    memcpy(expected + i, "\xc3\xb6", 2);
  expected[1000] = '\0';
  check_odd_name(large, (1 << 20) - 1, expected);
  /* Now the last 1,000 bytes would begin inside a character, so this character
   * is dropped. */
  large[(1 << 20) - 3] = '.';
  memcpy(expected + 998, ".", 2);
  check_odd_name(large, (1 << 20) - 2, expected);
  check_odd_name("", 0, "(unknown)");
  free(large);
}

/* Names for the largest possible sample: 513 frames, each with three texts of
 * maximum length, and the maximum number of labels. */
static spanprof_status long_name(void *data, const sp_frame *frame,
                                 sp_frame_name *out) {
  static char texts[3][2000];
  size_t i;

  (void)data;
  for (i = 0; i < 3; i++) {
    memset(texts[i], 'n', sizeof texts[i]);
    snprintf(texts[i] + 1977, 23, "%zu-%020" PRIu64, i, frame->code);
  }
  *out = (sp_frame_name){.function = texts[0],
                         .function_bytes = 1999,
                         .file = texts[1],
                         .file_bytes = 1999,
                         .line = INT64_MAX,
                         .start_line = INT64_MAX,
                         .mapped = true,
                         .mapping = {.path = texts[2],
                                     .build_id = texts[0],
                                     .start = UINT64_MAX,
                                     .limit = UINT64_MAX,
                                     .file_offset = UINT64_MAX}};
  return SPANPROF_OK;
}

static void the_largest_sample_fits_a_part(void) {
  spanprof_labels labels = 0;
  char name[600], value[2000];
  sp_frame stack[2][513];
  profile_fixture fixture;
  size_t i, j;

  for (i = 0; i < 22; i++) {
    memset(name, 'k', sizeof name);
    snprintf(name + 590, 10, "%zu", i);
    memset(value, 'v', sizeof value);
    snprintf(value + 1990, 10, "%zu", i);
    labels = push(name, value);
  }
  pop_all();
  for (i = 0; i < 2; i++)
    for (j = 0; j < 513; j++)
      stack[i][j] = fixture_native(1, UINT64_MAX - i * 1000 - j);
  fixture_open(&fixture);
  fixture.namer.name = long_name;
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack[0], 513, labels, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack[1], 513, labels, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture.part_count, 2);
  CHECK(fixture.raw_bytes[0] > 1600000 && fixture.raw_bytes[0] <= 1900000);
  CHECK_EQUAL(fixture.parts[1]->sample_count, 1);
  CHECK_EQUAL(fixture.parts[1]->samples[0].label_count, 21);
  fixture_close(&fixture);
}

static const check_test tests[] = {
    {"sample_carries_labels_and_span", sample_carries_labels_and_span},
    {"trace_id_and_legacy_label_are_optional",
     trace_id_and_legacy_label_are_optional},
    {"the_id_label_follows_the_rules", the_id_label_follows_the_rules},
    {"span_labels_replace_labels_of_the_same_name",
     span_labels_replace_labels_of_the_same_name},
    {"without_a_span_its_label_names_are_usable",
     without_a_span_its_label_names_are_usable},
    {"renamed_span_has_its_last_name", renamed_span_has_its_last_name},
    {"static_label_replaces_a_samples_label",
     static_label_replaces_a_samples_label},
    {"exported_names_have_no_dots", exported_names_have_no_dots},
    {"names_keep_dots_if_configured", names_keep_dots_if_configured},
    {"labels_above_the_servers_cap_are_dropped_and_counted",
     labels_above_the_servers_cap_are_dropped_and_counted},
    {"order_of_labels_does_not_split_samples",
     order_of_labels_does_not_split_samples},
    {"main_binary_is_the_first_mapping", main_binary_is_the_first_mapping},
    {"frames_without_a_symbol_have_a_name",
     frames_without_a_symbol_have_a_name},
    {"a_module_frame_has_an_address_in_the_module",
     a_module_frame_has_an_address_in_the_module},
    {"frames_of_a_nameless_function_are_one_function",
     frames_of_a_nameless_function_are_one_function},
    {"odd_names_become_valid", odd_names_become_valid},
    {"the_largest_sample_fits_a_part", the_largest_sample_fits_a_part},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
