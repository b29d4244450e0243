#include "check.h"
#include "settings/duration.h"

static void duration_units_are_understood(void) {
  static const struct {
    const char *text;
    uint64_t ns;
  } table[] = {
      {"10", 10 * SP_NS_PER_S},
      {"10s", 10 * SP_NS_PER_S},
      {" 10 s ", 10 * SP_NS_PER_S},
      {"500ms", 500 * SP_NS_PER_MS},
      {"250us", 250000},
      {"7ns", 7},
      {"1m", 60 * SP_NS_PER_S},
      {"2h", 7200 * SP_NS_PER_S},
      {"7d", 7 * 86400 * SP_NS_PER_S},
      {"0", 0},
      {"0005s", 5 * SP_NS_PER_S},
      {"0.5", 500 * SP_NS_PER_MS},
      {"1.5s", 1500 * SP_NS_PER_MS},
      {"1m30s", 90 * SP_NS_PER_S},
      {"1h 2m 3.25s", 3723250 * SP_NS_PER_MS},
      {"0.0000000019s", 1},
      {"0.99999999999999999999d", 86399999999999},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    uint64_t ns = 1;

    CHECK_EQUAL(sp_duration_parse(table[i].text, SP_NS_PER_S, &ns),
                SPANPROF_OK);
    CHECK_EQUAL(ns, table[i].ns);
  }
}

static void duration_bare_number_counts_the_callers_unit(void) {
  uint64_t ns;

  CHECK_EQUAL(sp_duration_parse("25", SP_NS_PER_MS, &ns), SPANPROF_OK);
  CHECK_EQUAL(ns, 25 * SP_NS_PER_MS);
}

static void duration_invalid_texts_are_refused(void) {
  static const char *const table[] = {
      "",     " ",   "s",    "-1",     "-1s",  "+5",    "1.s",    "10sec",
      "30M",  "1w",  "5min", "10 s s", "10s5", "x",     "10S",    "1e3",
      "0x10", "ten", ".5",   "1.5.5s", "1m30", "1..5s", "30 30s",
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    uint64_t ns = 1;

    CHECK_EQUAL(sp_duration_parse(table[i], SP_NS_PER_S, &ns),
                SPANPROF_ERR_FORMAT);
    CHECK_EQUAL(ns, 0);
  }
}

static void duration_long_units_have_their_own_function(void) {
  static const struct {
    const char *text;
    uint64_t days;
  } table[] = {{"1440min", 1}, {"2w", 14}, {"1M", 30},   {"1mon", 30},
               {"1y", 365},    {"1d", 1},  {"1y2w", 379}};
  uint64_t ns;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    CHECK_EQUAL(sp_duration_parse_long(table[i].text, SP_NS_PER_S, &ns),
                SPANPROF_OK);
    CHECK(ns == table[i].days * 86400 * SP_NS_PER_S);
  }
  CHECK_EQUAL(sp_duration_parse_long("1Y", SP_NS_PER_S, &ns),
              SPANPROF_ERR_FORMAT);
}

static void duration_too_long_has_its_own_status(void) {
  static const char *const table[] = {
      "18446744073709551616ns",
      "99999999999999999999999999999999",
      "18446744074",
      "213504d",
      "213503d 1d",
  };
  uint64_t ns;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++)
    CHECK_EQUAL(sp_duration_parse(table[i], SP_NS_PER_S, &ns),
                SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(sp_duration_parse("18446744073709551615ns", 1, &ns), SPANPROF_OK);
  CHECK(ns == UINT64_MAX);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"units are understood", duration_units_are_understood},
      {"a bare number counts the caller's unit",
       duration_bare_number_counts_the_callers_unit},
      {"invalid durations are refused", duration_invalid_texts_are_refused},
      {"long units have their own function",
       duration_long_units_have_their_own_function},
      {"a duration that is too long has its own status",
       duration_too_long_has_its_own_status},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
