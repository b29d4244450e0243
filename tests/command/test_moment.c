#include "check.h"
#include "command/shared/moment.h"

#define NOW_S UINT64_C(1795435200) /* 2026-11-23 12:00:00 UTC */

static void moments_are_understood(void) {
  static const struct {
    const char *text;
    uint64_t ns;
  } table[] = {
      {"now", NOW_S * SP_NS_PER_S},
      {"-1h", (NOW_S - 3600) * SP_NS_PER_S},
      {"now-1h30m", (NOW_S - 5400) * SP_NS_PER_S},
      {"-0.5", NOW_S * SP_NS_PER_S - SP_NS_PER_S / 2},
      {"1m30s", (NOW_S - 90) * SP_NS_PER_S},
      {"0.5", NOW_S * SP_NS_PER_S - SP_NS_PER_S / 2},
      {"0", NOW_S * SP_NS_PER_S},
      {"2026-11-23T12:00:00Z", NOW_S * SP_NS_PER_S},
      {"2026-11-23 12:00", NOW_S * SP_NS_PER_S},
      {"2026-11-23T13:00:00.25+01:00", NOW_S * SP_NS_PER_S + SP_NS_PER_S / 4},
      {"2026-11-23", (NOW_S - 43200) * SP_NS_PER_S},
      {"2024-02-29T00:00:00z", UINT64_C(1709164800) * SP_NS_PER_S},
      {"9999-12-31", INT64_MAX},
      {"2262-04-11T23:47:15Z", UINT64_C(9223372035) * SP_NS_PER_S},
      {"1795435200", NOW_S * SP_NS_PER_S},
      {"1795435200.5", NOW_S * SP_NS_PER_S + SP_NS_PER_S / 2},
      {"1795435200000", NOW_S * SP_NS_PER_S},
      {"1795435200000000", NOW_S * SP_NS_PER_S},
      {"1795435200000000001", NOW_S * SP_NS_PER_S + 1},
  };
  uint64_t ns;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    CHECK_EQUAL(sp_moment_parse(table[i].text, NOW_S * SP_NS_PER_S, &ns),
                SPANPROF_OK);
    CHECK(ns == table[i].ns);
  }
}

static void what_is_none_is_refused(void) {
  static const char *const table[] = {
      "",
      "yesterday",
      "1x",
      "-",
      "-1x",
      "now+1h",
      "nowhere",
      "2026-13-01",
      "2026-02-29",
      "2026-11-23T25:00",
      "2026-11-23T12",
      "2026-11-23T12:00:00+1",
      "2026-11-23T12:00:00Zulu",
      "1969-12-31",
      "-99999d",
      "99999999999999999999",
      "1.2.3",
  };
  uint64_t ns;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++)
    CHECK_EQUAL(sp_moment_parse(table[i], NOW_S * SP_NS_PER_S, &ns),
                SPANPROF_ERR_FORMAT);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"moments are understood", moments_are_understood},
      {"what is none is refused", what_is_none_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
