#include "query_time.h"

#include <string.h>

#include "util/text/number.h"

#define TIME_MS_PER_DAY INT64_C(86400000)

/* Of a unit: more is a mistake. */
#define TIME_NUMBER_MAX 999999999

/* Days from 1970-01-01 to a day of the Gregorian calendar, by Howard Hinnant's
 * days_from_civil: https://howardhinnant.github.io/date_algorithms.html */
static int64_t time_days(int64_t year, int64_t month, int64_t day) {
  int64_t era, year_of_era, day_of_year;

  year -= month <= 2;
  era = year / 400;
  year_of_era = year - era * 400;
  day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 -
         year_of_era / 100 + day_of_year - 719468;
}

/* A day that there is. */
static bool time_day(int64_t year, int64_t month, int64_t day, int64_t *out) {
  const int64_t next_year = year + (month == 12);
  const int64_t next_month = month % 12 + 1;

  if (month < 1 || month > 12 || day < 1 ||
      day > time_days(next_year, next_month, 1) - time_days(year, month, 1))
    return false;
  *out = time_days(year, month, day) * TIME_MS_PER_DAY;
  return true;
}

/* *rest_ns: of a number of microseconds or nanoseconds, below *out. */
static bool time_number(const char *text, size_t digits, int64_t *out,
                        int64_t *rest_ns) {
  uint64_t whole;
  int64_t number;

  if (sp_number_read(&text, text + digits, &whole) || whole > INT64_MAX)
    return false;
  number = (int64_t)whole;
  switch (digits) {
  case 8:
    return time_day(number / 10000, number / 100 % 100, number % 100, out);
  case 13:
    *out = number;
    return true;
  case 16:
    *out = number / 1000;
    *rest_ns = number % 1000 * 1000;
    return true;
  case 19:
    *out = number / 1000000;
    *rest_ns = number % 1000000;
    return true;
  }
  if (number > SP_TIME_MS_MAX / 1000)
    return false;
  *out = number * 1000;
  return true;
}

/* Months have 30 days here and years 365, as in Graphite's times. */
static bool time_unit(const char *name, size_t bytes, int64_t *out) {
  static const struct {
    const char *name;
    int64_t ms;
  } units[] = {{"s", 1000},
               {"m", 60000},
               {"min", 60000},
               {"h", 3600000},
               {"d", TIME_MS_PER_DAY},
               {"w", 7 * TIME_MS_PER_DAY},
               {"M", 30 * TIME_MS_PER_DAY},
               {"mon", 30 * TIME_MS_PER_DAY},
               {"y", 365 * TIME_MS_PER_DAY}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(units); i++)
    if (strlen(units[i].name) == bytes &&
        memcmp(units[i].name, name, bytes) == 0) {
      *out = units[i].ms;
      return true;
    }
  return false;
}

/* "-1h30m", "+5min" behind "now". */
static bool time_offset(const char *p, const char *end, int64_t *out) {
  const int64_t sign = *p == '-' ? -1 : 1;
  int64_t unit;

  if ((*p != '-' && *p != '+') || p + 1 == end)
    return false;
  for (p++; p < end;) {
    uint64_t number;
    spanprof_status st = sp_number_read(&p, end, &number);
    const char *name = p, *next = p;

    while (next < end && (*next < '0' || *next > '9'))
      next++;
    if (st || number > TIME_NUMBER_MAX ||
        !time_unit(name, (size_t)(next - name), &unit) ||
        (int64_t)number > SP_TIME_MS_MAX / unit ||
        __builtin_add_overflow(*out, sign * (int64_t)number * unit, out))
      return false;
    p = next;
  }
  return true;
}

static bool time_parse(const char *text, int64_t now_ms, int64_t *out_ms,
                       int64_t *rest_ns) {
  const char *start = text + strspn(text, " \t");
  const char *end = start + strlen(start);
  size_t size;

  while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  size = (size_t)(end - start);
  *out_ms = now_ms;
  if (size >= 3 && memcmp(start, "now", 3) == 0)
    return size == 3 ||
           (time_offset(start + 3, end, out_ms) && *out_ms <= SP_TIME_MS_MAX &&
            *out_ms >= -SP_TIME_MS_MAX);
  if (size == 0 || strspn(start, "0123456789") < size)
    return false;
  *rest_ns = 0;
  return time_number(start, size, out_ms, rest_ns);
}

bool sp_query_time(const char *text, int64_t now_ms, int64_t *out_ms) {
  int64_t rest_ns;

  return time_parse(text, now_ms, out_ms, &rest_ns);
}

int64_t sp_query_time_ns(const char *text, int64_t now_ns) {
  int64_t ms, rest_ns = now_ns % 1000000;

  if (text && time_parse(text, now_ns / 1000000, &ms, &rest_ns))
    return __builtin_add_overflow(sp_query_ns(ms), rest_ns, &rest_ns)
               ? INT64_MAX
               : rest_ns;
  return text && *text && !text[strspn(text, "0123456789")] ? INT64_MAX
                                                            : now_ns;
}
