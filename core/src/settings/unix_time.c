#include "unix_time.h"

#include <string.h>

#include "duration.h"
#include "util/text/ascii.h"
#include "util/text/number.h"

#define TIME_DAY_S INT64_C(86400)

/* Maximum size, in bytes, of the text of a duration such as "1h30m". */
#define TIME_DURATION_MAX 63

static const char time_expected[] = "Try 2026-11-26 13:00 or now-90m.";
static const char time_no_day[] = "There is no such day.";
static const char time_too_far[] = "The time is too far from now.";

/* The text that is not read yet, and the arguments of sp_unix_period_parse().
 */
typedef struct time_reader {
  const char *p;
  int64_t now_ns;
  sp_utc_offset *local;
  sp_unix_period *out;
} time_reader;

/* A day and a time of that day, in UTC, local time or another time zone. */
typedef struct time_local {
  int64_t day; /* since 1970-01-01 */
  int64_t seconds;
  int64_t ns;
  bool has_zone;
  int64_t zone_s; /* ahead of UTC */
} time_local;

static void time_skip_blanks(time_reader *reader) {
  reader->p += strspn(reader->p, " \t");
}

static bool time_at_end(time_reader *reader) {
  time_skip_blanks(reader);
  return !*reader->p;
}

static bool time_accept(time_reader *reader, const char *word) {
  const size_t size = strlen(word);

  if (strncmp(reader->p, word, size) != 0)
    return false;
  reader->p += size;
  return true;
}

/* If the text begins with this word and no letter or digit follows, step over
 * the word and return true. */
static bool time_accept_word(time_reader *reader, const char *word) {
  const char *before = reader->p;

  if (time_accept(reader, word) && !sp_ascii_word(*reader->p))
    return true;
  reader->p = before;
  return false;
}

static bool time_two_digits(const time_reader *reader) {
  return sp_ascii_digit(reader->p[0]) && sp_ascii_digit(reader->p[1]);
}

/* Read exactly `count` digits. */
static bool time_digits(time_reader *reader, size_t count, int64_t *out) {
  const char *end = reader->p + count;
  uint64_t number;

  if (strnlen(reader->p, count) < count ||
      sp_number_read(&reader->p, end, &number) || reader->p != end)
    return false;
  *out = (int64_t)number;
  return true;
}

/* Return the time in nanoseconds, or the nearest time in range. */
static int64_t time_ns(int64_t seconds, int64_t ns) {
  int64_t sum;

  if (__builtin_mul_overflow(seconds, (int64_t)SP_NS_PER_S, &sum) ||
      __builtin_add_overflow(sum, ns, &sum))
    return seconds < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

/* Return the number of days from 1970-01-01 to a day of the Gregorian calendar,
 * by Howard Hinnant's days_from_civil:
 * https://howardhinnant.github.io/date_algorithms.html */
static int64_t time_days(int64_t year, int64_t month, int64_t day) {
  int64_t era, year_of_era, day_of_year;

  year -= month <= 2;
  era = year / 400;
  year_of_era = year - era * 400;
  day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 -
         year_of_era / 100 + day_of_year - 719468;
}

/* Compute the number of a day. Returns false if the calendar does not have the
 * day. */
static bool time_day(int64_t year, int64_t month, int64_t day, int64_t *out) {
  const int64_t next_year = year + (month == 12);
  const int64_t next_month = month % 12 + 1;

  if (year < 1 || month < 1 || month > 12 || day < 1 ||
      day > time_days(next_year, next_month, 1) - time_days(year, month, 1))
    return false;
  *out = time_days(year, month, day);
  return true;
}

static int64_t time_local_offset(const time_reader *reader, int64_t unix_s) {
  return reader->local ? reader->local(unix_s) : 0;
}

static int64_t time_floor(int64_t value, int64_t unit) {
  return value / unit - (value % unit < 0);
}

/* Return the seconds since 1970-01-01 00:00 in local time. */
static int64_t time_local_seconds(const time_reader *reader, int64_t ns) {
  const int64_t unix_s = time_floor(ns, (int64_t)SP_NS_PER_S);

  return unix_s + time_local_offset(reader, unix_s);
}

/* Return the number of the present day in local time. */
static int64_t time_today(const time_reader *reader) {
  return time_floor(time_local_seconds(reader, reader->now_ns), TIME_DAY_S);
}

/* Return the number of the Monday of a day's week. */
static int64_t time_monday(int64_t day) {
  return time_floor(day + 3, 7) * 7 - 3; /* 1970-01-01 was a Thursday. */
}

static int64_t time_of_local(const time_reader *reader,
                             const time_local *local) {
  const int64_t seconds = local->day * TIME_DAY_S + local->seconds;
  int64_t offset_s = local->zone_s;

  /* The offset of local time is a function of UTC, which is unknown until the
   * offset is known. So the first call of `local` uses the local time in place
   * of UTC, and the second call uses the UTC that the first one gave. The
   * second result is right, except within the hour that a change of clocks
   * skips or repeats. */
  if (!local->has_zone) {
    offset_s = time_local_offset(reader, seconds);
    offset_s = time_local_offset(reader, seconds - offset_s);
  }
  return time_ns(seconds - offset_s, local->ns);
}

/* Set the result to a point in time. */
static const char *time_is(time_reader *reader, const time_local *local) {
  reader->out->from_ns = reader->out->until_ns = time_of_local(reader, local);
  return NULL;
}

/* Set the result to the period of `unit_s` seconds from the local time
 * `local_s` on. */
static const char *time_is_period(time_reader *reader, int64_t local_s,
                                  int64_t unit_s) {
  const time_local from = {.seconds = local_s};
  const time_local until = {.seconds = local_s + unit_s};

  reader->out->from_ns = time_of_local(reader, &from);
  reader->out->until_ns = time_of_local(reader, &until);
  return NULL;
}

/* Read a time zone, "Z", "UTC" or "+02:00", if there is one. */
static bool time_read_zone(time_reader *reader, time_local *out) {
  int sign;
  int64_t hours, minutes;

  time_skip_blanks(reader);
  sign = *reader->p == '-' ? -1 : 1;
  out->has_zone = time_accept(reader, "Z") || time_accept(reader, "z") ||
                  time_accept(reader, "UTC");
  if (out->has_zone || (*reader->p != '+' && *reader->p != '-'))
    return true;
  reader->p++;
  out->has_zone = true;
  if (!time_digits(reader, 2, &hours))
    return false;
  (void)time_accept(reader, ":");
  if (!time_digits(reader, 2, &minutes) || hours > 23 || minutes > 59)
    return false;
  out->zone_s = sign * (hours * 3600 + minutes * 60);
  return true;
}

/* Read "H:MM", "HH:MM", "HH:MM:SS" or "HH:MM:SS.FRACTION", and a time zone, if
 * there is one. */
static bool time_read_clock(time_reader *reader, time_local *out) {
  int64_t hours, minutes, seconds = 0, place = (int64_t)SP_NS_PER_S / 10;

  if (!time_digits(reader, time_two_digits(reader) ? 2 : 1, &hours) ||
      !time_accept(reader, ":") || !time_digits(reader, 2, &minutes) ||
      (time_accept(reader, ":") && !time_digits(reader, 2, &seconds)) ||
      hours > 23 || minutes > 59 || seconds > 59)
    return false;
  if (time_accept(reader, "."))
    for (; sp_ascii_digit(*reader->p); reader->p++, place /= 10)
      out->ns += place * (*reader->p - '0');
  out->seconds = hours * 3600 + minutes * 60 + seconds;
  return time_read_zone(reader, out);
}

/* Read a day such as "2026-11-23". */
static const char *time_read_date(time_reader *reader, time_local *out) {
  int64_t year, month, day;

  if (!time_digits(reader, 4, &year) || !time_accept(reader, "-") ||
      !time_digits(reader, 2, &month) || !time_accept(reader, "-") ||
      !time_digits(reader, 2, &day))
    return time_expected;
  return time_day(year, month, day, &out->day) ? NULL : time_no_day;
}

/* Read a day ("2026-11-23", "today" or "yesterday"), with or without a time. */
static const char *time_read_day(time_reader *reader) {
  time_local local = {0};
  const char *wrong = NULL;

  if (time_accept_word(reader, "today"))
    local.day = time_today(reader);
  else if (time_accept_word(reader, "yesterday"))
    local.day = time_today(reader) - 1;
  else
    wrong = time_read_date(reader, &local);
  if (wrong)
    return wrong;
  if (*reader->p == 'T' || *reader->p == 't')
    reader->p++;
  else if (time_at_end(reader))
    return time_is_period(reader, local.day * TIME_DAY_S, TIME_DAY_S);
  if (!time_read_clock(reader, &local) || !time_at_end(reader))
    return time_expected;
  return time_is(reader, &local);
}

/* Read the word after "this" or "last". */
static const char *time_read_week(time_reader *reader, int64_t weeks_ago) {
  const int64_t monday = time_monday(time_today(reader)) - 7 * weeks_ago;

  time_skip_blanks(reader);
  if (!time_accept_word(reader, "week") || !time_at_end(reader))
    return time_expected;
  return time_is_period(reader, monday * TIME_DAY_S, 7 * TIME_DAY_S);
}

/* Read a time of the present day, such as "14:05". */
static const char *time_read_today(time_reader *reader) {
  time_local local = {.day = time_today(reader)};

  if (!time_read_clock(reader, &local) || !time_at_end(reader))
    return time_expected;
  return time_is(reader, &local);
}

/* Read a Unix time, with or without decimals. */
static const char *time_read_number(time_reader *reader, size_t digits) {
  const uint64_t unit_ns = digits == 13   ? SP_NS_PER_MS
                           : digits == 16 ? 1000
                           : digits == 19 ? 1
                                          : SP_NS_PER_S;
  uint64_t ns;
  const spanprof_status st = sp_duration_parse(reader->p, unit_ns, &ns);

  if (st == SPANPROF_ERR_FORMAT)
    return time_expected;
  reader->out->from_ns = st || ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
  reader->out->until_ns = reader->out->from_ns;
  return NULL;
}

/* Read a day without hyphens, such as "20261123". */
static const char *time_read_compact_day(time_reader *reader) {
  int64_t number, day;

  if (!time_digits(reader, 8, &number) || !time_at_end(reader))
    return time_expected;
  if (!time_day(number / 10000, number / 100 % 100, number % 100, &day))
    return time_no_day;
  return time_is_period(reader, day * TIME_DAY_S, TIME_DAY_S);
}

/* If "/m", "/h", "/d" or "/w" follows, the result is the whole minute, hour,
 * day or week in local time that contains the time `ns`. Otherwise the result
 * is `ns`. */
static const char *time_read_unit(time_reader *reader, int64_t ns) {
  const int64_t local_s = time_local_seconds(reader, ns);
  int64_t unit_s;

  reader->out->from_ns = reader->out->until_ns = ns;
  if (time_at_end(reader))
    return NULL;
  if (!time_accept(reader, "/"))
    return time_expected;
  if (time_accept_word(reader, "w") && time_at_end(reader))
    return time_is_period(
        reader, time_monday(time_floor(local_s, TIME_DAY_S)) * TIME_DAY_S,
        7 * TIME_DAY_S);
  unit_s = time_accept_word(reader, "d")   ? TIME_DAY_S
           : time_accept_word(reader, "h") ? 3600
           : time_accept_word(reader, "m") ? 60
                                           : 0;
  if (!unit_s || !time_at_end(reader))
    return time_expected;
  return time_is_period(reader, time_floor(local_s, unit_s) * unit_s, unit_s);
}

/* Read a duration such as "1h30m". The result is now plus the duration if
 * `sign` is 1, and now minus the duration if it is -1. */
static const char *time_read_offset(time_reader *reader, int sign,
                                    uint64_t bare_unit_ns) {
  const size_t bytes = strcspn(reader->p, "/");
  char duration[TIME_DURATION_MAX + 1] = "";
  uint64_t length_ns;
  int64_t ns;
  spanprof_status st;

  if (bytes > TIME_DURATION_MAX)
    return time_expected;
  memcpy(duration, reader->p, bytes);
  st = sp_duration_parse_long(duration, bare_unit_ns, &length_ns);
  if (st == SPANPROF_ERR_FORMAT)
    return time_expected;
  if (st || length_ns > INT64_MAX ||
      __builtin_add_overflow(reader->now_ns, sign * (int64_t)length_ns, &ns))
    return time_too_far;
  reader->p += bytes;
  return time_read_unit(reader, ns);
}

/* Read a text that begins with `digits` digits. */
static const char *time_read_digits(time_reader *reader, size_t digits) {
  const char next = reader->p[digits];

  if (next == ':')
    return time_read_today(reader);
  if (next == '-')
    return time_read_day(reader);
  if (reader->p[strspn(reader->p, "0123456789. \t")])
    return time_read_offset(reader, -1, 0);
  return digits == 8 && next != '.' ? time_read_compact_day(reader)
                                    : time_read_number(reader, digits);
}

static const char *time_read(time_reader *reader) {
  bool now;
  size_t digits;

  time_skip_blanks(reader);
  now = time_accept_word(reader, "now");
  time_skip_blanks(reader);
  if (time_accept(reader, "-"))
    return time_read_offset(reader, -1, SP_NS_PER_S);
  if (time_accept(reader, "+"))
    return time_read_offset(reader, 1, SP_NS_PER_S);
  if (now)
    return time_read_unit(reader, reader->now_ns);
  if (time_accept_word(reader, "last"))
    return time_read_week(reader, 1);
  if (time_accept_word(reader, "this"))
    return time_read_week(reader, 0);
  digits = strspn(reader->p, "0123456789");
  return digits ? time_read_digits(reader, digits) : time_read_day(reader);
}

const char *sp_unix_period_parse(const char *text, int64_t now_ns,
                                 sp_utc_offset *local, sp_unix_period *out) {
  time_reader reader = {
      .p = text, .now_ns = now_ns, .local = local, .out = out};
  const char *wrong = time_read(&reader);

  if (wrong)
    out->from_ns = out->until_ns = now_ns;
  return wrong;
}

const char *sp_unix_time_parse(const char *text, int64_t now_ns,
                               sp_utc_offset *local, int64_t *out_ns) {
  sp_unix_period period;
  const char *wrong = sp_unix_period_parse(text, now_ns, local, &period);

  *out_ns = period.from_ns;
  return wrong;
}

int64_t sp_unix_period_end(const sp_unix_period *from,
                           const sp_unix_period *until) {
  return until->from_ns > from->from_ns ? until->from_ns : until->until_ns;
}
