/* Tests the parser of points in time. */
#include <time.h>

#include "check.h"
#include "settings/unix_time.h"

#define NS         ((int64_t)SP_NS_PER_S)
#define NOW_S      INT64_C(1795435200) /* 2026-11-23 12:00:00 UTC */
#define NOW        (NOW_S * NS)
#define DAY_S      INT64_C(86400)
#define MIDNIGHT_S (NOW_S - 43200)

typedef struct time_case {
  const char *text;
  int64_t ns;
} time_case;

/* A time zone that changes from UTC+2 to UTC+1 at 2026-11-23 01:00 UTC. */
static int64_t zone_of_winter(int64_t unix_s) {
  return unix_s < MIDNIGHT_S + 3600 ? 7200 : 3600;
}

static void check_times(const time_case *cases, size_t count,
                        sp_utc_offset *local) {
  size_t i;

  for (i = 0; i < count; i++) {
    int64_t ns = 0;

    CHECK(!sp_unix_time_parse(cases[i].text, NOW, local, &ns));
    if (ns != cases[i].ns)
      printf("# \"%s\"\n", cases[i].text);
    CHECK_EQUAL(ns, cases[i].ns);
  }
}

static void times_relative_to_now(void) {
  static const time_case cases[] = {
      {"now", NOW},
      {" now\t", NOW},
      {"now-1h", (NOW_S - 3600) * NS},
      {" now-1h ", (NOW_S - 3600) * NS},
      {"now-1h30m", (NOW_S - 5400) * NS},
      {"now-1h30min", (NOW_S - 5400) * NS},
      {"now-90m", (NOW_S - 5400) * NS},
      {"now-2d", (NOW_S - 2 * DAY_S) * NS},
      {"now-1w", (NOW_S - 7 * DAY_S) * NS},
      {"now+1M", (NOW_S + 30 * DAY_S) * NS},
      {"now-1mon", (NOW_S - 30 * DAY_S) * NS},
      {"now-1y", (NOW_S - 365 * DAY_S) * NS},
      {"now-100y", (NOW_S - 36500 * DAY_S) * NS},
      {"now-20", (NOW_S - 20) * NS},
      {"-1h", (NOW_S - 3600) * NS},
      {"-0.5", NOW - NS / 2},
      {"-1.5h", (NOW_S - 5400) * NS},
      {"-5", (NOW_S - 5) * NS},
      {"+5min", (NOW_S + 300) * NS},
      {"1m30s", (NOW_S - 90) * NS},
      {"250ms", NOW - NS / 4},
      {"10 s", (NOW_S - 10) * NS},
  };

  check_times(cases, SP_COUNT_OF(cases), NULL);
}

static void unix_times_in_every_unit(void) {
  static const time_case cases[] = {
      {"0", 0},
      {"90", 90 * NS},
      {"0.5", NS / 2},
      {"795435200", 795435200 * NS},
      {"1795435200", NOW},
      {"1795435200.5", NOW + NS / 2},
      {"1795435200123", NOW + 123000000},
      {"0000000000090", 90000000},
      {"1795435200123456", NOW + 123456000},
      {"1795435200000000001", NOW + 1},
      {"9999999999", INT64_MAX},
      {"90000000000000000", INT64_MAX},
      {"9999999999999999999", INT64_MAX},
      {"99999999999999999999", INT64_MAX},
  };

  check_times(cases, SP_COUNT_OF(cases), NULL);
}

static void times_of_the_calendar(void) {
  static const time_case cases[] = {
      {"20261123", MIDNIGHT_S * NS},
      {"20280229", INT64_C(1835395200) * NS},
      {"20261231", INT64_C(1798675200) * NS},
      {"2026-11-23", MIDNIGHT_S * NS},
      {"2026-11-23T12:00:00Z", NOW},
      {"2026-11-23 12:00", NOW},
      {" 2026-11-23t12:00:00 ", NOW},
      {"2026-11-23T13:00:00.25+01:00", NOW + NS / 4},
      {"2026-11-23T06:30-05:30", NOW},
      {"2024-02-29T00:00:00z", INT64_C(1709164800) * NS},
      {"1969-12-31", -DAY_S * NS},
      {"0001-01-01", INT64_MIN},
      {"9999-12-31", INT64_MAX},
      {"2262-04-11T23:47:15Z", INT64_C(9223372035) * NS},
      {"today", MIDNIGHT_S * NS},
      {"today 09:30", (MIDNIGHT_S + 34200) * NS},
      {"yesterday", (MIDNIGHT_S - DAY_S) * NS},
      {"yesterday 14:05", (MIDNIGHT_S - DAY_S + 50700) * NS},
      {"yesterday 14:05:30+01:00", (MIDNIGHT_S - DAY_S + 47130) * NS},
      {"14:05", (MIDNIGHT_S + 50700) * NS},
      {"14:05:30.5Z", (MIDNIGHT_S + 50730) * NS + NS / 2},
  };

  check_times(cases, SP_COUNT_OF(cases), NULL);
}

static void days_are_those_of_the_time_zone(void) {
  static const time_case cases[] = {
      {"2026-11-23 13:00", NOW},
      {"2026-11-23 13:00Z", NOW + 3600 * NS},
      {"2026-11-22 14:00", (NOW_S - DAY_S) * NS},
      {"14:05", (MIDNIGHT_S + 47100) * NS},
      {"today", (MIDNIGHT_S - 7200) * NS},
      {"yesterday 14:00", (NOW_S - DAY_S) * NS},
      {"20261123", (MIDNIGHT_S - 7200) * NS},
      {"now-1d", (NOW_S - DAY_S) * NS},
      {"1795435200", NOW},
  };

  check_times(cases, SP_COUNT_OF(cases), zone_of_winter);
}

/* Set the time zone of local time by a rule, so that the test needs no database
 * of time zones. The table names the zones, because a browser knows only names.
 */
static void use_zone(const char *name) {
  static const char *const rules[][2] = {
      {"UTC", "UTC0"},
      {"Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"},
      {"America/New_York", "EST5EDT,M3.2.0,M11.1.0"},
      {"Asia/Kolkata", "IST-5:30"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rules); i++)
    if (strcmp(rules[i][0], name) == 0) {
      setenv("TZ", rules[i][1], 1);
      tzset();
      return;
    }
  printf("# no rule of the zone \"%s\"\n", name);
  CHECK(false);
}

static int64_t zone_of_test(int64_t unix_s) {
  const time_t seconds = (time_t)unix_s;
  struct tm parts;

  CHECK(localtime_r(&seconds, &parts));
  return parts.tm_gmtoff;
}

static int64_t time_of_cell(const char *text) {
  int64_t ns;

  CHECK(!sp_unix_time_parse(text, 0, NULL, &ns));
  return ns;
}

/* Check a line of the table: zone, present time, text, beginning, end. */
static void check_line(char *line) {
  const char *cells[5] = {NULL};
  const char *wrong;
  sp_unix_period period, expected;
  bool good;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cells); i++)
    cells[i] = strsep(&line, "\t");
  CHECK(cells[4] && !line);
  use_zone(cells[0]);
  wrong = sp_unix_period_parse(cells[2], time_of_cell(cells[1]), zone_of_test,
                               &period);
  good = wrong && strcmp(cells[3], "-") == 0;
  if (!wrong && strcmp(cells[3], "-") != 0) {
    expected.from_ns = time_of_cell(cells[3]);
    expected.until_ns = time_of_cell(cells[4]);
    good = period.from_ns == expected.from_ns &&
           period.until_ns == expected.until_ns;
  }
  if (!good)
    printf("# %s, %s: \"%s\"\n", cells[0], cells[1], cells[2]);
  CHECK(good);
}

/* The page's test reads the same table, so both parsers agree. */
static void the_table_of_the_page_holds(void) {
  FILE *file = fopen(SP_TIME_CASES, "r");
  char line[400];
  size_t lines = 0;

  CHECK(file);
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (!*line || *line == '#')
      continue;
    check_line(line);
    lines++;
  }
  fclose(file);
  CHECK(lines > 50);
}

static void the_end_of_a_range_comes_after_its_beginning(void) {
  sp_unix_period day, next, now;

  CHECK(!sp_unix_period_parse("yesterday", NOW, NULL, &day));
  CHECK(!sp_unix_period_parse("today", NOW, NULL, &next));
  CHECK(!sp_unix_period_parse("now", NOW, NULL, &now));
  CHECK_EQUAL(sp_unix_period_end(&day, &day), MIDNIGHT_S * NS);
  CHECK_EQUAL(sp_unix_period_end(&day, &next), MIDNIGHT_S * NS);
  CHECK_EQUAL(sp_unix_period_end(&day, &now), NOW);
  CHECK_EQUAL(sp_unix_period_end(&now, &next), (MIDNIGHT_S + DAY_S) * NS);
  CHECK_EQUAL(sp_unix_period_end(&now, &now), NOW);
}

static void a_mistake_has_a_sentence(void) {
  static const char *const cases[][2] = {
      {"", "Try 2026-"},
      {" ", "Try 2026-"},
      {"tomorrow", "Try 2026-"},
      {"yesterdays", "Try 2026-"},
      {"yesterday noon", "Try 2026-"},
      {"nowadays", "Try 2026-"},
      {"now1h", "Try 2026-"},
      {"now-", "Try 2026-"},
      {"now-h", "Try 2026-"},
      {"now-1x", "Try 2026-"},
      {"1x", "Try 2026-"},
      {"-", "Try 2026-"},
      {"-1x", "Try 2026-"},
      {"1e9", "Try 2026-"},
      {"1.2.3", "Try 2026-"},
      {"1 2", "Try 2026-"},
      {"20261123 12", "Try 2026-"},
      {"2026-11-23T25:00", "Try 2026-"},
      {"2026-11-23T12:60", "Try 2026-"},
      {"2026-11-23T12", "Try 2026-"},
      {"2026-11-23T", "Try 2026-"},
      {"2026-11-23T12:00:00+1", "Try 2026-"},
      {"2026-11-23T12:00:00Zulu", "Try 2026-"},
      {"2026-11", "Try 2026-"},
      {"24:00", "Try 2026-"},
      {"13:0", "Try 2026-"},
      {"last", "Try 2026-"},
      {"last month", "Try 2026-"},
      {"last weeks", "Try 2026-"},
      {"now/", "Try 2026-"},
      {"now/x", "Try 2026-"},
      {"now/d/d", "Try 2026-"},
      {"now-1h/d 13:00", "Try 2026-"},
      {"now-0000000000000000000000000000000000000000000000000000000000000001h",
       "Try 2026-"},
      {"2026-13-01", "no such day"},
      {"2026-02-29", "no such day"},
      {"20261399", "no such day"},
      {"20260229", "no such day"},
      {"20260100", "no such day"},
      {"00000000", "no such day"},
      {"now-99999999999999y", "too far"},
      {"now-400y", "too far"},
      {"now+300y", "too far"},
      {"now-99999999999999999999s", "too far"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    int64_t ns = 0;
    const char *wrong = sp_unix_time_parse(cases[i][0], NOW, NULL, &ns);

    if (!wrong || !strstr(wrong, cases[i][1]))
      printf("# \"%s\": %s\n", cases[i][0], wrong ? wrong : "(a time)");
    CHECK(wrong && strstr(wrong, cases[i][1]));
    CHECK_EQUAL(ns, NOW);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"times_relative_to_now", times_relative_to_now},
      {"unix_times_in_every_unit", unix_times_in_every_unit},
      {"times_of_the_calendar", times_of_the_calendar},
      {"days_are_those_of_the_time_zone", days_are_those_of_the_time_zone},
      {"the_table_of_the_page_holds", the_table_of_the_page_holds},
      {"the_end_of_a_range_comes_after_its_beginning",
       the_end_of_a_range_comes_after_its_beginning},
      {"a_mistake_has_a_sentence", a_mistake_has_a_sentence},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
