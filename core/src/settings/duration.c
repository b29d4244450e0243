#include "duration.h"

#include <string.h>

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
    {"d", 86400 * SP_NS_PER_S},
};

static const char *duration_skip_spaces(const char *p) {
  while (*p == ' ' || *p == '\t')
    p++;
  return p;
}

/* The unit at `p` up to trailing spaces; 0: none of ours. */
static uint64_t duration_unit_ns(const char *p) {
  size_t i, length = strcspn(p, " \t");

  if (*duration_skip_spaces(p + length))
    return 0;
  for (i = 0; i < SP_COUNT_OF(duration_units); i++) {
    if (strlen(duration_units[i].name) == length &&
        memcmp(duration_units[i].name, p, length) == 0)
      return duration_units[i].ns;
  }
  return 0;
}

spanprof_status sp_duration_parse(const char *text, uint64_t bare_unit_ns,
                                  uint64_t *out_ns) {
  const char *p = duration_skip_spaces(text);
  uint64_t amount = 0, unit_ns;
  bool over = false;

  *out_ns = 0;
  if (*p < '0' || *p > '9')
    return SPANPROF_ERR_FORMAT;
  for (; *p >= '0' && *p <= '9'; p++) {
    over = over || __builtin_mul_overflow(amount, (uint64_t)10, &amount);
    over =
        over || __builtin_add_overflow(amount, (uint64_t)(*p - '0'), &amount);
  }
  p = duration_skip_spaces(p);
  unit_ns = *p ? duration_unit_ns(p) : bare_unit_ns;
  if (unit_ns == 0)
    return SPANPROF_ERR_FORMAT;
  if (over || __builtin_mul_overflow(amount, unit_ns, &amount))
    return SPANPROF_ERR_LIMIT;
  *out_ns = amount;
  return SPANPROF_OK;
}
