/* The checks of a whole profile. */
#include "pprof_message.h"
#include "server/receive/profile/raw_check.h"

#define SECOND_NS INT64_C(1000000000)

static const sp_raw_window window = {.now_ns = 10000 * SECOND_NS,
                                     .from_ns = 6400 * SECOND_NS,
                                     .until_ns = 10600 * SECOND_NS};

/* Read and check a profile. Returns the message of the refusal, or "". */
static const char *check(pprof_case *c, const message *m) {
  sp_series_labels labels;

  pprof_case_init(c, &sp_mem_default);
  CHECK(!sp_raw_read(&c->raw, &c->arena, message_view(m), &c->refusal));
  sp_series_labels_init(&labels, &sp_mem_default);
  CHECK(!sp_series_labels_add(&labels, sp_view_text("a"), sp_view_text("b")));
  CHECK_EQUAL(sp_raw_check(&c->raw, &window, &sp_limits_pyroscope, &labels,
                           &c->refusal) != SPANPROF_OK,
              c->refusal.kind != SP_REFUSAL_NONE);
  sp_series_labels_dispose(&labels);
  return sp_refusal_text(&c->refusal);
}

#define CHECK_SENTENCE(m, expected)           \
  do {                                        \
    pprof_case check_c;                       \
    CHECK_TEXT(check(&check_c, m), expected); \
    pprof_case_dispose(&check_c);             \
    message_free(m);                          \
  } while (0)

static void the_ends_of_the_window_are_exclusive(void) {
  static const struct {
    int64_t time_ns;
    bool fits;
  } cases[] = {{6400 * SECOND_NS, false},
               {6400 * SECOND_NS + 1, true},
               {10600 * SECOND_NS - 1, true},
               {10600 * SECOND_NS, false},
               {0, true},
               {-1, true}};
  pprof_case c;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    message m = pprof_head("k", "v");

    message_number(&m, 9, (uint64_t)cases[i].time_ns);
    CHECK_EQUAL(!*check(&c, &m), cases[i].fits);
    if (cases[i].time_ns <= 0)
      CHECK_EQUAL(c.raw.time_ns, window.now_ns);
    pprof_case_dispose(&c);
    message_free(&m);
  }
}

/* The number of types has a limit, because types are compared pairwise. */
static void too_many_types_are_refused(void) {
  message m = message_new();
  size_t i;

  for (i = 0; i < 65; i++)
    message_inner(&m, 1, pprof_value_type(0, 0));
  message_text(&m, 6, "");
  CHECK_SENTENCE(&m, "the profile with labels '{a=\"b\"}' has 65 sample types; "
                     "limit 64");
}

static void invalid_text_numbers_are_reported(void) {
  message m = pprof_head("k", "v");

  message_inner(&m, 2, pprof_sample(1, 999, PPROF_TEXT));
  CHECK_SENTENCE(&m, "sample label string index out of range");
  m = pprof_head("k", "v");
  message_inner(&m, 2, pprof_sample(1, PPROF_KEY, (uint64_t)-1));
  CHECK_SENTENCE(&m, "sample label string index out of range");
  m = pprof_head("k", "v");
  message_inner(&m, 5, pprof_function(3, 999));
  CHECK_SENTENCE(&m, "function name string index out of range");
  m = pprof_head("k", "v");
  message_inner(&m, 5, pprof_function(3, (uint64_t)-1));
  CHECK_SENTENCE(&m, "");
  m = pprof_head("k", "v");
  message_inner(&m, 5, pprof_function(0, PPROF_MAIN));
  CHECK_SENTENCE(&m, "function id is 0");
  m = pprof_head("k", "v");
  message_inner(&m, 4, pprof_location(0, 1));
  CHECK_SENTENCE(&m, "location id is 0");
  m = pprof_head("k", "v");
  message_inner(&m, 1, pprof_value_type(PPROF_KEY, PPROF_EMPTY));
  message_inner(&m, 2, pprof_sample(1, 0, 0));
  CHECK_SENTENCE(&m, "sample value length mismatch");
  m = pprof_head("in-use", "v");
  message_inner(&m, 1, pprof_value_type(PPROF_KEY, PPROF_EMPTY));
  CHECK_SENTENCE(&m, "sample type contains -");
  m = pprof_head("k", "l\xff");
  CHECK_SENTENCE(&m, "invalid utf8 string hex: 6cff");
  m = message_new();
  CHECK_SENTENCE(&m, "empty profile");
  message_inner(&m, 1, pprof_value_type(0, 0));
  message_text(&m, 6, "x");
  CHECK_SENTENCE(&m, "string 0 should be empty string");
}

static void samples_and_their_labels_are_counted(void) {
  message m = pprof_head("k", "v"), sample, label;
  pprof_case c;
  size_t i;

  for (i = 0; i < sp_limits_pyroscope.samples + 1; i++)
    message_inner(&m, 2, pprof_sample(1, 0, 0));
  CHECK_SENTENCE(&m, "the profile with labels '{a=\"b\"}' exceeds the samples "
                     "count limit (max_profile_stacktrace_samples, actual: "
                     "16001, limit: 16000)");
  m = pprof_head("k", "v");
  sample = pprof_sample(1, 0, 0);
  for (i = 0; i < sp_limits_pyroscope.sample_labels + 1; i++) {
    label = message_new();
    message_number(&label, 1, PPROF_KEY);
    message_number(&label, 3, i + 1);
    message_inner(&sample, 3, label);
  }
  message_inner(&m, 2, sample);
  CHECK(strstr(check(&c, &m), "actual: 101, limit: 100"));
  pprof_case_dispose(&c);
  message_free(&m);
}

static void long_texts_are_cut(void) {
  char *text = malloc(70001);
  message m;
  pprof_case c;

  memset(text, 'x', 70000);
  memcpy(text, "head", 4);
  memcpy(text + 69996, "tail", 5);
  m = pprof_head("k", text);
  CHECK_TEXT(check(&c, &m), "");
  CHECK_EQUAL(c.raw.texts[PPROF_TEXT].size, SP_RAW_TEXT_MAX);
  CHECK(memcmp(c.raw.texts[PPROF_TEXT].bytes + SP_RAW_TEXT_MAX - 4, "tail",
               4) == 0);
  pprof_case_dispose(&c);
  message_free(&m);
  free(text);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_ends_of_the_window_are_exclusive",
       the_ends_of_the_window_are_exclusive},
      {"too_many_types_are_refused", too_many_types_are_refused},
      {"invalid_text_numbers_are_reported", invalid_text_numbers_are_reported},
      {"samples_and_their_labels_are_counted",
       samples_and_their_labels_are_counted},
      {"long_texts_are_cut", long_texts_are_cut},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
