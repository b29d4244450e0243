#include "duration.h"

#include <string.h>

#include "util/text/ascii.h"
#include "util/text/number.h"

/* Number of digits of a fraction that are read. 10^-14 days are less than 1 ns,
 * and 10^-14 years or months are less than 1 µs. */
#define DURATION_DECIMALS 14

#define DURATION_DAY_NS (86400 * SP_NS_PER_S)

static const struct duration_unit {
  const char *name;
  uint64_t ns;
} duration_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", SP_NS_PER_MS},
    {"s", SP_NS_PER_S},
    {"m", 60 * SP_NS_PER_S},
    {"h", 3600 * SP_NS_PER_S},
    {"d", DURATION_DAY_NS},
    /* The following units are accepted only by sp_duration_parse_long(). */
    {"min", 60 * SP_NS_PER_S},
    {"w", 7 * DURATION_DAY_NS},
    {"M", 30 * DURATION_DAY_NS},
    {"mon", 30 * DURATION_DAY_NS},
    {"y", 365 * DURATION_DAY_NS},
};

#define DURATION_SHORT_UNITS 7

static const char *duration_skip_spaces(const char *p) {
  while (*p == ' ' || *p == '\t')
    p++;
  return p;
}

/* Step over the unit at *p and return its nanoseconds. Returns 0 if it is not
 * one of the first `units` entries of the table. */
static uint64_t duration_unit_ns(const char **p, size_t units) {
  size_t i, length = 0;

  while (sp_ascii_letter((*p)[length]))
    length++;
  for (i = 0; i < units; i++) {
    if (strlen(duration_units[i].name) == length &&
        memcmp(duration_units[i].name, *p, length) == 0) {
      *p += length;
      return duration_units[i].ns;
    }
  }
  return 0;
}

/* Read a number, such as "90" or "1.5", and its unit. The unit of a number
 * without a unit is `bare_unit_ns`. If that is 0, the number must have a unit.
 */
static spanprof_status duration_part(const char **p, size_t units,
                                     uint64_t bare_unit_ns, uint64_t *out_ns) {
  uint64_t whole, fraction = 0, place = 1, unit_ns;
  const spanprof_status st = sp_number_read(p, NULL, &whole);
  bool over = st == SPANPROF_ERR_LIMIT;
  int decimals = 0;

  if (st == SPANPROF_ERR_FORMAT)
    return st;
  if (**p == '.' && !sp_ascii_digit((*p)[1]))
    return SPANPROF_ERR_FORMAT;
  if (**p == '.')
    for (++*p; sp_ascii_digit(**p); ++*p) {
      if (decimals++ >= DURATION_DECIMALS)
        continue;
      fraction = fraction * 10 + (uint64_t)(**p - '0');
      place *= 10;
    }
  *p = duration_skip_spaces(*p);
  unit_ns = **p ? duration_unit_ns(p, units) : bare_unit_ns;
  if (unit_ns == 0)
    return SPANPROF_ERR_FORMAT;
  over = over || __builtin_mul_overflow(whole, unit_ns, out_ns);
  /* 128 bits, because 10^14 times the nanoseconds of a day do not fit 64 bits.
   */
  fraction = (uint64_t)((unsigned __int128)fraction * unit_ns / place);
  over = over || __builtin_add_overflow(*out_ns, fraction, out_ns);
  return over ? SPANPROF_ERR_LIMIT : SPANPROF_OK;
}

static spanprof_status duration_parse(const char *text, size_t units,
                                      uint64_t bare_unit_ns, uint64_t *out_ns) {
  const char *p = duration_skip_spaces(text);
  uint64_t sum_ns = 0, part_ns;
  spanprof_status st, limit = SPANPROF_OK;

  *out_ns = 0;
  do {
    st = duration_part(&p, units, bare_unit_ns, &part_ns);
    if (st == SPANPROF_ERR_FORMAT)
      return st;
    if (st || __builtin_add_overflow(sum_ns, part_ns, &sum_ns))
      limit = SPANPROF_ERR_LIMIT;
    /* If a duration has several parts, each part must have a unit. */
    bare_unit_ns = 0;
    p = duration_skip_spaces(p);
  } while (*p);
  if (!limit)
    *out_ns = sum_ns;
  return limit;
}

spanprof_status sp_duration_parse(const char *text, uint64_t bare_unit_ns,
                                  uint64_t *out_ns) {
  return duration_parse(text, DURATION_SHORT_UNITS, bare_unit_ns, out_ns);
}

spanprof_status sp_duration_parse_long(const char *text, uint64_t bare_unit_ns,
                                       uint64_t *out_ns) {
  return duration_parse(text, SP_COUNT_OF(duration_units), bare_unit_ns,
                        out_ns);
}
