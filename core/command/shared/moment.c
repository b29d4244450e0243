#include "moment.h"

#include <string.h>
#include <time.h>

#include "settings/duration.h"
#include "util/text/number.h"

#define MOMENT_DIGITS_MIN 9  /* of seconds, from 1973 on */
#define MOMENT_DIGITS_MAX 19 /* of nanoseconds, until 2286 */

/* Of times that pprof can tell, until 2262. */
#define MOMENT_SECONDS_MAX (INT64_MAX / (int64_t)SP_NS_PER_S)

/* So many digits; false: others are there. */
static bool moment_digits(const char **p, size_t count, int *out) {
  const char *end = *p + count;
  uint64_t number;

  if (strnlen(*p, count) < count || sp_number_read(p, end, &number) ||
      *p != end)
    return false;
  *out = (int)number;
  return true;
}

static bool moment_mark(const char **p, char mark) {
  if (**p != mark)
    return false;
  ++*p;
  return true;
}

/* "Z", "+02:00", or nothing. */
static bool moment_zone(const char **p, int64_t *offset_s) {
  const int sign = **p == '-' ? -1 : 1;
  int hours, minutes;

  *offset_s = 0;
  if (**p == '\0' || moment_mark(p, 'Z') || moment_mark(p, 'z'))
    return true;
  if (**p != '+' && **p != '-')
    return false;
  ++*p;
  if (!moment_digits(p, 2, &hours) || !moment_mark(p, ':') ||
      !moment_digits(p, 2, &minutes) || hours > 23 || minutes > 59)
    return false;
  *offset_s = sign * (int64_t)(hours * 3600 + minutes * 60);
  return true;
}

/* ":SS.FRACTION", or nothing. */
static bool moment_seconds(const char **p, struct tm *parts, uint64_t *ns) {
  uint64_t place = SP_NS_PER_S / 10;

  *ns = 0;
  if (!moment_mark(p, ':'))
    return true;
  if (!moment_digits(p, 2, &parts->tm_sec))
    return false;
  if (!moment_mark(p, '.'))
    return true;
  for (; **p >= '0' && **p <= '9'; ++*p, place /= 10)
    *ns += place * (uint64_t)(**p - '0');
  return true;
}

/* That no part is beyond its range: timegm() would carry it over. */
static bool moment_is_real(const struct tm *given, time_t seconds) {
  struct tm back;

  return gmtime_r(&seconds, &back) && back.tm_year == given->tm_year &&
         back.tm_mon == given->tm_mon && back.tm_mday == given->tm_mday &&
         back.tm_hour == given->tm_hour && back.tm_min == given->tm_min &&
         back.tm_sec == given->tm_sec;
}

static bool moment_calendar(const char *p, uint64_t *out_ns) {
  struct tm parts = {0}, carried;
  int64_t offset_s = 0, seconds;
  uint64_t ns = 0;

  if (!moment_digits(&p, 4, &parts.tm_year) || !moment_mark(&p, '-') ||
      !moment_digits(&p, 2, &parts.tm_mon) || !moment_mark(&p, '-') ||
      !moment_digits(&p, 2, &parts.tm_mday))
    return false;
  parts.tm_year -= 1900;
  parts.tm_mon--;
  if (*p && !moment_mark(&p, 'T') && !moment_mark(&p, 't') &&
      !moment_mark(&p, ' '))
    return false;
  if (*p && (!moment_digits(&p, 2, &parts.tm_hour) || !moment_mark(&p, ':') ||
             !moment_digits(&p, 2, &parts.tm_min) ||
             !moment_seconds(&p, &parts, &ns) || !moment_zone(&p, &offset_s)))
    return false;
  carried = parts;
  seconds = (int64_t)timegm(&carried);
  if (*p || !moment_is_real(&parts, (time_t)seconds) || seconds <= offset_s)
    return false;
  seconds -= offset_s;
  /* Whoever says 9999 means for ever. */
  *out_ns = seconds < MOMENT_SECONDS_MAX ? (uint64_t)seconds * SP_NS_PER_S + ns
                                         : INT64_MAX;
  return true;
}

/* The unit that makes the number a time of our days: seconds have 10 digits,
 * and 9 before September 2001. Fewer are a length of time. */
static bool moment_number(const char *text, uint64_t *out_ns) {
  static const uint64_t units[] = {SP_NS_PER_S, SP_NS_PER_MS,
                                   SP_NS_PER_S / 1000000, 1};
  const size_t digits = strspn(text, "0123456789");
  size_t unit = digits <= 11 ? 0 : digits <= 14 ? 1 : digits <= 17 ? 2 : 3;

  return digits >= MOMENT_DIGITS_MIN && digits <= MOMENT_DIGITS_MAX &&
         strspn(text, "0123456789.") == strlen(text) &&
         !sp_duration_parse(text, units[unit], out_ns);
}

/* So long before now. */
static bool moment_before(const char *text, uint64_t now_ns, uint64_t *out_ns) {
  uint64_t before_ns;

  if (sp_duration_parse(text, SP_NS_PER_S, &before_ns) || before_ns >= now_ns)
    return false;
  *out_ns = now_ns - before_ns;
  return true;
}

spanprof_status sp_moment_parse(const char *text, uint64_t now_ns,
                                uint64_t *out_ns) {
  bool good;

  *out_ns = now_ns;
  if (strcmp(text, "now") == 0)
    return SPANPROF_OK;
  if (strncmp(text, "now-", 4) == 0)
    good = moment_before(text + 4, now_ns, out_ns);
  else if (*text == '-')
    good = moment_before(text + 1, now_ns, out_ns);
  else
    good = moment_number(text, out_ns) || moment_calendar(text, out_ns) ||
           moment_before(text, now_ns, out_ns);
  if (!good)
    *out_ns = 0;
  return good ? SPANPROF_OK : SPANPROF_ERR_FORMAT;
}
