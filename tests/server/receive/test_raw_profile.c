/* Reading of untrusted pprof. */
#include <zlib.h>

#include "pprof_message.h"

#define UNPACKED_MAX ((size_t)4 << 20)

static message whole(void) {
  message m = pprof_head("thread", "worker");

  message_inner(&m, 2, pprof_sample(30, PPROF_KEY, PPROF_TEXT));
  message_number(&m, 9, 1700000000);
  return m;
}

static spanprof_status read_case(pprof_case *c, sp_view bytes) {
  pprof_case_init(c, &sp_mem_default);
  return sp_raw_read(&c->raw, &c->arena, bytes, &c->refusal);
}

static void a_written_profile_is_read(void) {
  message m = whole();
  const sp_raw_sample *sample;
  sp_raw_samples samples;
  pprof_case c;

  CHECK(!read_case(&c, message_view(&m)));
  CHECK_EQUAL(c.raw.sample_count, 1);
  sp_raw_samples_init(&samples, &c.raw);
  sample = sp_raw_samples_at(&samples, 0);
  CHECK_EQUAL(sample->location_count, 2);
  CHECK_EQUAL(sample->locations[0], 2);
  CHECK_EQUAL(sample->values[0], 30);
  CHECK_EQUAL(sample->labels[0].text, PPROF_TEXT);
  sp_raw_samples_dispose(&samples);
  CHECK_EQUAL(c.raw.location_count, 2);
  CHECK_EQUAL(c.raw.locations[1].lines[0].line, 7);
  CHECK_EQUAL(c.raw.time_ns, 1700000000);
  CHECK(sp_view_is(sp_raw_text(&c.raw, PPROF_LEAF), "leaf"));
  CHECK(sp_view_is(sp_raw_text(&c.raw, 99), ""));
  pprof_case_dispose(&c);
  message_free(&m);
}

/* The samples of an ordinary profile are decoded once, and those of a large
 * profile stay encoded. A reader gets the same samples from both. */
static void large_profiles_stay_encoded(void) {
  const size_t counts[] = {1000, 200000};
  size_t i, k;

  for (i = 0; i < SP_COUNT_OF(counts); i++) {
    message m = pprof_head("thread", "worker");
    sp_raw_samples samples;
    pprof_case c;

    for (k = 0; k < counts[i]; k++)
      message_inner(&m, 2, pprof_sample((int64_t)k, PPROF_KEY, PPROF_TEXT));
    CHECK(!read_case(&c, message_view(&m)));
    CHECK((c.raw.samples != NULL) == (i == 0));
    CHECK_EQUAL(c.raw.sample_count, counts[i]);
    sp_raw_samples_init(&samples, &c.raw);
    for (k = 0; k < counts[i]; k += 999) {
      const sp_raw_sample *sample = sp_raw_samples_at(&samples, k);

      CHECK_EQUAL(sample->values[0], (int64_t)k);
      CHECK_EQUAL(sample->labels[0].text, PPROF_TEXT);
    }
    sp_raw_samples_dispose(&samples);
    pprof_case_dispose(&c);
    message_free(&m);
  }
}

/* Each prefix of a profile is either read or refused. */
static void a_truncated_profile_does_not_crash(void) {
  message m = whole();
  pprof_case c;
  size_t size;

  for (size = 0; size < m.out.size; size++) {
    char *copy = malloc(size + 1);

    memcpy(copy, m.out.data, size);
    if (read_case(&c, sp_view_of(copy, size)))
      CHECK(c.refusal.kind == SP_REFUSAL_BROKEN);
    pprof_case_dispose(&c);
    free(copy);
  }
  message_free(&m);
}

static void malformed_profiles_have_a_message(void) {
  static const struct {
    const char *bytes;
    size_t size;
    const char *text;
  } cases[] = {
      {"hello, this is not pprof", 24,
       "proto: Profile: wiretype end group for non-group"},
      {"\x08\x05", 2, "proto: wrong wireType = 0 for field SampleType"},
      {"\x0a\x05", 2, "unexpected EOF"},
      {"\x0f", 1, "proto: illegal wireType 7"},
      {"\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12,
       "proto: Profile: a number or a field's tag is out of range"},
      {"\x0b", 1, "unexpected EOF"}, /* a group without end */
  };
  pprof_case c;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    CHECK(read_case(&c, sp_view_of(cases[i].bytes, cases[i].size)));
    CHECK_TEXT(sp_refusal_text(&c.refusal), cases[i].text);
    pprof_case_dispose(&c);
  }
}

/* Each location has two bytes in the profile, but would need a hundred times as
 * many in memory. */
static void memory_is_bounded(void) {
  const size_t count = 2 << 20;
  char *bytes = malloc(2 * count);
  pprof_case c;
  size_t i;

  for (i = 0; i < count; i++) {
    bytes[2 * i] = 4 << 3 | 2;
    bytes[2 * i + 1] = 0;
  }
  CHECK(read_case(&c, sp_view_of(bytes, 2 * count)));
  CHECK(c.refusal.kind == SP_REFUSAL_LARGE);
  CHECK(c.arena.bytes <= PPROF_MEMORY_MAX);
  pprof_case_dispose(&c);
  free(bytes);
}

static size_t gzip(const void *plain, size_t size, char *out, size_t capacity) {
  z_stream z = {0};

  CHECK(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  z.next_in = (Bytef *)(uintptr_t)plain;
  z.avail_in = (uInt)size;
  z.next_out = (Bytef *)out;
  z.avail_out = (uInt)capacity;
  CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
  size = capacity - z.avail_out;
  deflateEnd(&z);
  return size;
}

static spanprof_status unpack(sp_view bytes, size_t *size, bool *large,
                              char *text) {
  sp_refusal refusal;
  sp_buffer into;
  spanprof_status st;
  sp_view out;

  sp_buffer_init(&into, &sp_mem_default);
  sp_refusal_init(&refusal, &sp_mem_default);
  st = sp_raw_unpack(bytes, &into, UNPACKED_MAX, &out, large, &refusal);
  *size = out.size;
  snprintf(text, 100, "%s", sp_refusal_text(&refusal));
  sp_refusal_dispose(&refusal);
  sp_buffer_dispose(&into);
  return st;
}

static void gzip_is_decompressed_and_bounded(void) {
  const size_t bomb_size = 64 << 20;
  char packed[1 << 17], text[100], *bomb = calloc(bomb_size, 1);
  message m = whole();
  size_t size = gzip(m.out.data, m.out.size, packed, sizeof packed), out, cut;
  bool large;

  CHECK(!unpack(sp_view_of(packed, size), &out, &large, text));
  CHECK_EQUAL(out, m.out.size);
  for (cut = 0; cut < size; cut++)
    CHECK(unpack(sp_view_of(packed, cut), &out, &large, text));
  CHECK_TEXT(text, "copy to buffer: unexpected EOF");
  memcpy(packed + size, "garbage", 7);
  CHECK(unpack(sp_view_of(packed, size + 7), &out, &large, text));
  size = gzip(bomb, bomb_size, packed, sizeof packed);
  CHECK(!unpack(sp_view_of(packed, size), &out, &large, text));
  CHECK(large);
  CHECK(out < UNPACKED_MAX + (1 << 17));
  CHECK(unpack(sp_view_of("", 0), &out, &large, text));
  CHECK_TEXT(text, "gzip reset: EOF");
  CHECK(unpack(sp_view_of("\x28\xb5\x2f\xfd", 4), &out, &large, text));
  CHECK_TEXT(text, "gzip reset: unexpected EOF");
  free(bomb);
  message_free(&m);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_written_profile_is_read", a_written_profile_is_read},
      {"large_profiles_stay_encoded", large_profiles_stay_encoded},
      {"a_truncated_profile_does_not_crash",
       a_truncated_profile_does_not_crash},
      {"malformed_profiles_have_a_message", malformed_profiles_have_a_message},
      {"memory_is_bounded", memory_is_bounded},
      {"gzip_is_decompressed_and_bounded", gzip_is_decompressed_and_bounded},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
