#include "profile/pprof/pprof_reader.h"

#include <inttypes.h>

#include "failing_mem.h"
#include "profile/pprof/gunzip.h"
#include "profile/pprof/pprof_source.h"
#include "util/memory/buffer.h"
#include "util/system/status.h"
#include "wire.h"

/* Read a file of the corpus. The files are from Go 1.19's runtime/pprof and go
 * tool pprof, the expected numbers from `go tool pprof -raw`. */
static uint8_t *corpus_file(const char *name, size_t *size) {
  uint8_t *bytes = malloc(1 << 16);
  char path[4096];
  FILE *file;

  snprintf(path, sizeof path, "%s/%s", SPANPROF_PPROF_CORPUS, name);
  file = fopen(path, "rb");
  CHECK(file && bytes);
  *size = fread(bytes, 1, 1 << 16, file);
  CHECK(*size > 0 && *size < 1 << 16);
  fclose(file);
  return bytes;
}

static sp_pprof *corpus_profile(const char *name) {
  sp_pprof *profile;
  size_t size;
  uint8_t *bytes = corpus_file(name, &size);

  CHECK_EQUAL(sp_pprof_read(&profile, &sp_mem_default, bytes, size),
              SPANPROF_OK);
  free(bytes);
  return profile;
}

static const char *function_of(const sp_pprof *profile,
                               const sp_pprof_sample *sample, size_t frame) {
  const sp_pprof_location *location =
      &profile->locations[sample->locations[frame]];

  return profile->functions[location->lines[0].function].name;
}

static int64_t sum_of(const sp_pprof *profile, const char *type) {
  const uint32_t at = sp_pprof_type_find(profile, type);
  int64_t sum = 0;
  size_t i;

  CHECK(at != SP_PPROF_NONE);
  for (i = 0; i < profile->sample_count; i++)
    sum += profile->samples[i].values[at];
  return sum;
}

static void a_go_cpu_profile_is_read(void) {
  sp_pprof *profile = corpus_profile("go_cpu");
  const sp_pprof_sample *sample = &profile->samples[0];

  CHECK_EQUAL(profile->type_count, 2);
  CHECK_TEXT(profile->types[0].type, "samples");
  CHECK_TEXT(profile->types[1].unit, "nanoseconds");
  CHECK_EQUAL(profile->default_type, 1);
  CHECK_TEXT(profile->period_type.type, "cpu");
  CHECK_EQUAL(profile->period, 10000000);
  CHECK_EQUAL(profile->time_ns, 1795283586606916731);
  CHECK_EQUAL(profile->sample_count, 9);
  CHECK_EQUAL(sum_of(profile, "cpu"), 150000000);
  CHECK_EQUAL(sample->values[0], 4);
  CHECK_EQUAL(sample->values[1], 40000000);
  CHECK_EQUAL(sample->location_count, 6);
  CHECK_TEXT(function_of(profile, sample, 0), "main.leaf");
  CHECK_TEXT(function_of(profile, sample, 5), "runtime.main");
  CHECK_TEXT(sp_pprof_label_text(sample, "phase"), "read");
  CHECK_TEXT(sp_pprof_label_text(sample, "profile_id"), "deadbeef00010203");
  CHECK(!sp_pprof_label_text(sample, "span_name"));
  CHECK_TEXT(profile->mappings[0].file, "/tmp/example/burn");
  CHECK(profile->mappings[0].has_functions);
  CHECK_EQUAL(sp_pprof_type_find(profile, "wall"), SP_PPROF_NONE);
  sp_pprof_free(profile);
}

static void numbers_as_labels_are_read(void) {
  sp_pprof *profile = corpus_profile("go_heap");
  const sp_pprof_label *label = &profile->samples[1].labels[0];

  CHECK_EQUAL(profile->type_count, 4);
  CHECK_EQUAL(profile->samples[0].label_count, 0);
  CHECK_EQUAL(profile->samples[1].label_count, 1);
  CHECK_TEXT(label->key, "bytes");
  CHECK(!label->text);
  CHECK_EQUAL(label->number, 65536);
  CHECK(!sp_pprof_label_text(&profile->samples[1], "bytes"));
  CHECK_TEXT(profile->types[profile->default_type].type, "inuse_space");
  sp_pprof_free(profile);
}

static void gzip_members_are_one_profile(void) {
  sp_pprof *one = corpus_profile("go_cpu");
  sp_pprof *two = corpus_profile("two_members");

  CHECK_EQUAL(one->sample_count, two->sample_count);
  CHECK_EQUAL(one->location_count, two->location_count);
  CHECK_EQUAL(sum_of(one, "cpu"), sum_of(two, "cpu"));
  sp_pprof_free(one);
  sp_pprof_free(two);
}

static void a_profile_merged_by_pprof_is_read(void) {
  sp_pprof *one = corpus_profile("go_cpu");
  sp_pprof *merged = corpus_profile("go_merged");

  CHECK_EQUAL(2 * sum_of(one, "cpu"), sum_of(merged, "cpu"));
  CHECK_EQUAL(one->sample_count, merged->sample_count);
  sp_pprof_free(one);
  sp_pprof_free(merged);
}

/* In this file, texts and types are last, numbers are not packed, ids have
 * gaps, one call is inlined, one location has no name, and a label occurs
 * twice. */
static void unusual_order_and_ids_are_read(void) {
  sp_pprof *profile = corpus_profile("unpacked");
  const sp_pprof_sample *sample = &profile->samples[0];
  const sp_pprof_location *inlined = &profile->locations[sample->locations[0]];

  CHECK_EQUAL(sample->location_count, 2);
  CHECK_EQUAL(sample->values[0], 5);
  CHECK_EQUAL(inlined->address, 0x1234);
  CHECK_EQUAL(inlined->line_count, 2);
  CHECK_TEXT(function_of(profile, sample, 0), "a");
  CHECK_EQUAL(inlined->lines[0].line, 3);
  CHECK_TEXT(profile->functions[inlined->lines[1].function].name, "b");
  CHECK_EQUAL(profile->locations[sample->locations[1]].line_count, 0);
  CHECK_EQUAL(inlined->mapping, SP_PPROF_NONE);
  CHECK_EQUAL(sample->label_count, 2);
  CHECK_TEXT(sample->labels[0].text, "text");
  CHECK_EQUAL(sample->labels[1].number, 42);
  CHECK_TEXT(sample->labels[1].unit, "bytes");
  CHECK_EQUAL(profile->comment_count, 2);
  CHECK_TEXT(profile->comments[1], "b");
  CHECK_TEXT(profile->period_type.type, "");
  sp_pprof_free(profile);
}

/* Begin a profile that has a sample type, an empty first text and four more
 * texts. */
static wire begin_profile(void) {
  static const char *const texts[] = {"", "cpu", "ns", "name", "b\xc3"};
  wire type = {.size = 0}, profile = {.size = 0};
  size_t i;

  wire_number(&type, 1, 1);
  wire_number(&type, 2, 2);
  wire_message(&profile, 1, &type);
  for (i = 0; i < SP_COUNT_OF(texts); i++)
    wire_text(&profile, 6, texts[i]);
  return profile;
}

static spanprof_status read_wire(const wire *w, sp_pprof **out) {
  return sp_pprof_read(out, &sp_mem_default, w->bytes, w->size);
}

static void refused(const wire *w, const char *sentence) {
  sp_pprof *profile;

  CHECK_EQUAL(read_wire(w, &profile), SPANPROF_ERR_FORMAT);
  CHECK(!profile);
  CHECK_TEXT(spanprof_last_error(), sentence);
}

/* A profile that has a message as field `field`. The message has one or two
 * numbers. */
static wire profile_with(uint32_t field, uint32_t number, uint64_t value,
                         uint32_t number2, uint64_t value2) {
  wire profile = begin_profile(), message = {.size = 0};

  wire_number(&message, number, value);
  if (number2)
    wire_number(&message, number2, value2);
  wire_message(&profile, field, &message);
  return profile;
}

static void broken_references_are_refused(void) {
  const struct {
    uint32_t field, number;
    uint64_t value;
    uint32_t number2;
    uint64_t value2;
    const char *sentence;
  } cases[] = {
      {1, 1, 5, 0, 0,
       "it refers to an entry that its string table does not have"},
      {1, 2, UINT64_MAX, 0, 0,
       "it refers to an entry that its string table does not have"},
      {2, 2, 7, 1, 1, "a sample refers to a location that does not exist"},
      {2, 1, 1, 0, 0, "a sample does not have one value of each type"},
      {3, 1, 0, 0, 0, "an id is 0"},
      {3, 1, 1, 5, 99,
       "it refers to an entry that its string table does not have"},
      {4, 1, 0, 3, 0x99, "an id is 0"},
      {5, 1, 0, 2, 3, "an id is 0"},
      {5, 1, 1, 2, 99,
       "it refers to an entry that its string table does not have"},
      {5, 1, 1, 4, 5,
       "it refers to an entry that its string table does not have"},
  };
  char sentence[256];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    const wire profile =
        profile_with(cases[i].field, cases[i].number, cases[i].value,
                     cases[i].number2, cases[i].value2);

    snprintf(sentence, sizeof sentence, "is a broken pprof profile: %s",
             cases[i].sentence);
    refused(&profile, sentence);
  }
}

static void duplicate_ids_are_refused(void) {
  wire profile = profile_with(5, 1, 9, 2, 3), function = {.size = 0};

  wire_number(&function, 1, 9);
  wire_message(&profile, 5, &function);
  refused(&profile, "is a broken pprof profile: an id occurs twice");
}

static void line_without_a_function_is_refused(void) {
  wire profile = begin_profile(), line = {.size = 0}, location = {.size = 0};

  wire_number(&line, 1, 3);
  wire_number(&location, 1, 1);
  wire_message(&location, 4, &line);
  wire_message(&profile, 4, &location);
  refused(&profile,
          "is a broken pprof profile: a location refers to a function "
          "that does not exist");
}

static void other_files_are_refused(void) {
  const char text[] = "main;read 12\n";
  wire profile = begin_profile(), other = {.size = 0};
  sp_pprof *out;

  wire_data(&other, 3, text, 4);
  /* The profile has no sample type. */
  refused(&other, "is not a pprof profile");
  CHECK_EQUAL(sp_pprof_read(&out, &sp_mem_default, text, strlen(text)),
              SPANPROF_ERR_FORMAT);
  CHECK_TEXT(spanprof_last_error(), "is not a pprof profile");
  CHECK_EQUAL(sp_pprof_read(&out, &sp_mem_default, text, 0),
              SPANPROF_ERR_FORMAT);
  CHECK_TEXT(spanprof_last_error(), "is empty");
  wire_number(&profile, 2, 1); /* a number where a sample should be */
  refused(&profile, "is not a pprof profile");
  other = begin_profile();
  wire_data(&other, 9, text, 4); /* bytes where the time should be */
  refused(&other, "is not a pprof profile");
  other = (wire){.size = 0};
  wire_text(&other, 6, "not empty");
  wire_text(&other, 1, "");
  refused(&other, "is a broken pprof profile: the first entry of its string "
                  "table is not empty");
}

static void concatenated_profiles_are_refused(void) {
  wire profile = begin_profile();

  wire_number(&profile, 9, 1);
  wire_number(&profile, 9, 2);
  refused(&profile, "is a broken pprof profile: it contains two profiles");
}

static void truncated_comments_are_refused(void) {
  wire profile = begin_profile();

  wire_data(&profile, 13, "\x03\x83", 2);
  refused(&profile, "is a broken pprof profile: its comments end too early");
}

static void invalid_message_is_refused(void) {
  wire profile = begin_profile();

  wire_text(&profile, 4, "\x0a\xff");
  refused(&profile, "is a broken pprof profile: field 4 cannot be decoded");
}

static void texts_become_valid_and_unknown_fields_are_skipped(void) {
  wire profile = profile_with(5, 1, 1, 2, 4);
  sp_pprof *out;

  wire_text(&profile, 99, "of the future");
  wire_number(&profile, 1000, 1);
  wire_varint(&profile, (77 << 3) | 5); /* fixed32 */
  wire_varint(&profile, 0x01010101);
  wire_number(&profile, 14, 1);
  CHECK_EQUAL(read_wire(&profile, &out), SPANPROF_OK);
  CHECK_TEXT(out->functions[0].name, "b?");
  CHECK_EQUAL(out->default_type, 0);
  CHECK_EQUAL(out->sample_count, 0);
  sp_pprof_free(out);
}

static void every_truncation_is_refused_or_read(void) {
  size_t size, cut, ok = 0;
  uint8_t *file = corpus_file("go_cpu", &size);
  sp_buffer raw;
  sp_pprof *profile;

  sp_buffer_init(&raw, &sp_mem_default);
  CHECK_EQUAL(sp_gunzip(&raw, file, size, 1 << 20), SPANPROF_OK);
  for (cut = 1; cut < size; cut++) {
    CHECK_EQUAL(sp_pprof_read(&profile, &sp_mem_default, file, cut),
                SPANPROF_ERR_FORMAT);
    CHECK(!profile);
  }
  for (cut = 1; cut < raw.size; cut++) {
    uint8_t *part = malloc(cut);
    spanprof_status st;

    CHECK(part);
    memcpy(part, raw.data, cut);
    st = sp_pprof_read(&profile, &sp_mem_default, part, cut);
    CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_FORMAT);
    ok += st == SPANPROF_OK;
    sp_pprof_free(profile);
    free(part);
  }
  CHECK(ok < raw.size / 4);
  sp_buffer_dispose(&raw);
  free(file);
}

static void broken_gzip_is_refused(void) {
  size_t size;
  uint8_t *file = corpus_file("go_cpu", &size);
  sp_pprof *profile;

  file[size / 2] ^= 0xff;
  CHECK_EQUAL(sp_pprof_read(&profile, &sp_mem_default, file, size),
              SPANPROF_ERR_FORMAT);
  CHECK(!strncmp(spanprof_last_error(), "is ", 3));
  free(file);
}

static void too_large_decompressed_data_is_refused(void) {
  size_t size;
  /* Decompresses to 4,000,000 bytes. */
  uint8_t *file = corpus_file("small_bomb", &size);
  sp_buffer out;

  sp_buffer_init(&out, &sp_mem_default);
  CHECK_EQUAL(sp_gunzip(&out, file, size, 3 << 20), SPANPROF_ERR_LIMIT);
  CHECK_TEXT(spanprof_last_error(), "unpacks to more than 3 MiB");
  sp_buffer_clear(&out);
  CHECK_EQUAL(sp_gunzip(&out, file, size, 4 << 20), SPANPROF_OK);
  CHECK_EQUAL(out.size, 4000000);
  sp_buffer_dispose(&out);
  free(file);
}

/* A file of 18 MB with 9 million empty samples needs 288 MB of memory when it
 * is read. */
static void too_much_memory_is_refused(void) {
  const wire head = begin_profile();
  const size_t samples = 9000000;
  uint8_t *bytes = calloc(head.size + 2 * samples, 1);
  sp_pprof *profile;
  size_t i;

  CHECK(bytes);
  memcpy(bytes, head.bytes, head.size);
  for (i = 0; i < samples; i++)
    bytes[head.size + 2 * i] = (2 << 3) | 2;
  CHECK_EQUAL(
      sp_pprof_read(&profile, &sp_mem_default, bytes, head.size + 2 * samples),
      SPANPROF_ERR_LIMIT);
  CHECK(!profile);
  CHECK_TEXT(spanprof_last_error(),
             "is a profile that needs more than 256 MiB to read");
  free(bytes);
}

static void scenario_of_failures(const sp_mem *mem) {
  static const char *const names[] = {"go_cpu", "unpacked", "two_members"};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(names); i++) {
    size_t size;
    uint8_t *bytes = corpus_file(names[i], &size);
    sp_pprof *profile;
    spanprof_status st = sp_pprof_read(&profile, mem, bytes, size);

    CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
    CHECK((st == SPANPROF_OK) == (profile != NULL));
    sp_pprof_free(profile);
    free(bytes);
  }
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(scenario_of_failures);
}

static const check_test tests[] = {
    {"a_go_cpu_profile_is_read", a_go_cpu_profile_is_read},
    {"numbers_as_labels_are_read", numbers_as_labels_are_read},
    {"gzip_members_are_one_profile", gzip_members_are_one_profile},
    {"a_profile_merged_by_pprof_is_read", a_profile_merged_by_pprof_is_read},
    {"unusual_order_and_ids_are_read", unusual_order_and_ids_are_read},
    {"broken_references_are_refused", broken_references_are_refused},
    {"duplicate_ids_are_refused", duplicate_ids_are_refused},
    {"line_without_a_function_is_refused", line_without_a_function_is_refused},
    {"other_files_are_refused", other_files_are_refused},
    {"concatenated_profiles_are_refused", concatenated_profiles_are_refused},
    {"truncated_comments_are_refused", truncated_comments_are_refused},
    {"invalid_message_is_refused", invalid_message_is_refused},
    {"texts_become_valid_and_unknown_fields_are_skipped",
     texts_become_valid_and_unknown_fields_are_skipped},
    {"every_truncation_is_refused_or_read",
     every_truncation_is_refused_or_read},
    {"broken_gzip_is_refused", broken_gzip_is_refused},
    {"too_large_decompressed_data_is_refused",
     too_large_decompressed_data_is_refused},
    {"too_much_memory_is_refused", too_much_memory_is_refused},
    {"every_allocation_may_fail", every_allocation_may_fail},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
