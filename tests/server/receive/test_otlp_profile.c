/* OTLP profiles converted to the structure of pprof. */
#include "pprof_message.h"
#include "server/receive/otlp/otlp_profile.h"

enum { EMPTY, SAMPLES, COUNT, CPU, NANOSECONDS, LEAF, SERVICE, OFF_CPU };

static const char *const texts[] = {
    "",     "samples",      "count",  "cpu", "nanoseconds",
    "leaf", "service.name", "off_cpu"};

static message dictionary(void) {
  message m = message_new(), item = message_new(), inner;
  size_t i;

  message_bytes(&m, 1, "", 0);
  message_bytes(&m, 2, "", 0);
  inner = message_new();
  message_number(&inner, 1, 1);
  message_inner(&item, 3, inner);
  message_inner(&m, 2, item);
  message_bytes(&m, 3, "", 0);
  item = message_new();
  message_number(&item, 1, LEAF);
  message_inner(&m, 3, item);
  message_bytes(&m, 4, "", 0);
  item = message_new();
  message_bytes(&item, 1, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20", 16);
  message_bytes(&item, 2, "\1\2\3\4\5\6\7\10", 8);
  message_inner(&m, 4, item);
  for (i = 0; i < SP_COUNT_OF(texts); i++)
    message_text(&m, 5, texts[i]);
  item = message_new();
  inner = message_new();
  message_text(&inner, 1, "other");
  message_number(&item, 1, SERVICE);
  message_inner(&item, 2, inner);
  message_inner(&m, 6, item);
  message_bytes(&m, 7, "", 0);
  item = message_new();
  message_bytes(&item, 1, "\1", 1);
  message_inner(&m, 7, item);
  return m;
}

static message sample(uint64_t stack, uint64_t link, int64_t value) {
  message m = message_new();
  uint8_t packed[SP_VARINT_BYTES_MAX];

  message_number(&m, 1, stack);
  message_number(&m, 3, link);
  message_bytes(&m, 4, packed,
                (size_t)(sp_varint_put(packed, (uint64_t)value) - packed));
  return m;
}

static message profile(uint64_t type, uint64_t unit, uint64_t period) {
  message m = message_new();

  message_inner(&m, 1, pprof_value_type(type, unit));
  message_fixed(&m, 3, 77);
  if (period)
    message_inner(&m, 5, pprof_value_type(CPU, NANOSECONDS));
  message_number(&m, 6, period);
  return m;
}

typedef struct otlp_case {
  pprof_case c;
  message dictionary;
  sp_otlp_tables tables;
  sp_otlp_profile *profiles;
  size_t count;
} otlp_case;

/* Convert the profile `m`. Frees `m`. */
static spanprof_status convert(otlp_case *o, message m) {
  spanprof_status st;

  memset(o, 0, sizeof *o);
  pprof_case_init(&o->c, &sp_mem_default);
  o->dictionary = dictionary();
  CHECK(!sp_otlp_tables_read(&o->tables, &o->c.arena,
                             message_view(&o->dictionary), &o->c.refusal));
  st = sp_otlp_profile_convert(&o->profiles, &o->count, &o->tables,
                               message_view(&m), &o->c.refusal);
  message_free(&m);
  return st;
}

static void end(otlp_case *o) {
  pprof_case_dispose(&o->c);
  message_free(&o->dictionary);
}

static void cpu_samples_become_times(void) {
  message m = profile(SAMPLES, COUNT, 10);
  const sp_raw_profile *raw;
  otlp_case o;

  message_inner(&m, 2, sample(1, 1, 3));
  CHECK(!convert(&o, m));
  CHECK_EQUAL(o.count, 1);
  raw = &o.profiles[0].raw;
  CHECK(sp_view_is(o.profiles[0].name, "process_cpu"));
  CHECK(sp_view_is(sp_raw_text(raw, raw->types[0].type), "cpu"));
  CHECK_EQUAL(raw->samples[0].values[0], 30);
  CHECK_EQUAL(raw->time_ns, 77);
  CHECK_EQUAL(raw->samples[0].label_count, 2);
  CHECK(sp_view_is(sp_raw_text(raw, raw->samples[0].labels[0].text),
                   "0102030405060708"));
  CHECK(sp_view_is(sp_raw_text(raw, raw->functions[0].name), "leaf"));
  end(&o);
}

static void services_of_samples_split_a_profile(void) {
  message m = profile(SAMPLES, COUNT, 10), other = sample(1, 0, 3);
  otlp_case o;

  message_number(&other, 2, 0);
  message_inner(&m, 2, other);
  message_inner(&m, 2, sample(1, 0, 4));
  CHECK(!convert(&o, m));
  CHECK_EQUAL(o.count, 2);
  CHECK(sp_view_is(o.profiles[0].service, "other"));
  CHECK_EQUAL(o.profiles[1].raw.samples[0].values[0], 40);
  end(&o);
}

static void off_cpu_values_are_summed(void) {
  message m = profile(OFF_CPU, NANOSECONDS, 0), two = sample(1, 0, 3);
  otlp_case o;

  message_number(&two, 4, 4);
  message_inner(&m, 2, two);
  CHECK(!convert(&o, m));
  CHECK(sp_view_is(o.profiles[0].name, "off_cpu"));
  CHECK_EQUAL(o.profiles[0].raw.samples[0].values[0], 7);
  end(&o);
}

static void the_reason_of_a_failed_conversion_is_reported(void) {
  static const struct {
    uint64_t stack, link;
    const char *text;
  } cases[] = {
      {99, 0, "failed to convert otel profile: invalid stack index: 99"},
      {1, 99,
       "failed to convert otel profile: could not access link at index 99: "
       "index 99 out of bounds"}};
  message m, two;
  otlp_case o;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    m = profile(SAMPLES, COUNT, 10);
    message_inner(&m, 2, sample(cases[i].stack, cases[i].link, 1));
    CHECK(convert(&o, m));
    CHECK_TEXT(sp_refusal_text(&o.c.refusal), cases[i].text);
    end(&o);
  }
  m = profile(SAMPLES, COUNT, 10);
  two = sample(1, 0, 3);
  message_number(&two, 4, 4);
  message_inner(&m, 2, two);
  CHECK(convert(&o, m));
  CHECK(strstr(sp_refusal_text(&o.c.refusal), "length mismatch 2 1"));
  end(&o);
}

static void a_missing_attribute_is_ignored(void) {
  message m = profile(SAMPLES, COUNT, 10), one = sample(1, 0, 3);
  otlp_case o;

  message_number(&one, 2, 99);
  message_inner(&m, 2, one);
  CHECK(!convert(&o, m));
  CHECK_EQUAL(o.count, 1);
  CHECK_EQUAL(o.profiles[0].raw.samples[0].values[0], 30);
  CHECK_EQUAL(o.profiles[0].raw.samples[0].label_count, 0);
  end(&o);
}

static void a_truncated_request_does_not_crash(void) {
  message m = profile(SAMPLES, COUNT, 10), whole = dictionary();
  sp_otlp_tables tables;
  sp_otlp_profile *out;
  size_t size, count;
  pprof_case c;

  message_inner(&m, 2, sample(1, 1, 3));
  for (size = 0; size < whole.out.size; size++) {
    char *copy = malloc(size + 1);

    memcpy(copy, whole.out.data, size);
    pprof_case_init(&c, &sp_mem_default);
    if (!sp_otlp_tables_read(&tables, &c.arena, sp_view_of(copy, size),
                             &c.refusal))
      sp_otlp_profile_convert(&out, &count, &tables, message_view(&m),
                              &c.refusal);
    pprof_case_dispose(&c);
    free(copy);
  }
  message_free(&whole);
  message_free(&m);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"cpu_samples_become_times", cpu_samples_become_times},
      {"services_of_samples_split_a_profile",
       services_of_samples_split_a_profile},
      {"off_cpu_values_are_summed", off_cpu_values_are_summed},
      {"the_reason_of_a_failed_conversion_is_reported",
       the_reason_of_a_failed_conversion_is_reported},
      {"a_missing_attribute_is_ignored", a_missing_attribute_is_ignored},
      {"a_truncated_request_does_not_crash",
       a_truncated_request_does_not_crash},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
