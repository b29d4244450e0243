#include "report_unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Width of a column of values. */
#define UNIT_COLUMN 11

/* Units of time, in the spellings that google/pprof accepts (b9395ee17,
 * internal/measurement/measurement.go) and in those of the profiler Austin. */
static const struct unit_of_time {
  const char *name;
  int64_t ns;
} unit_times[] = {
    {"nanoseconds", 1},        {"nanosecond", 1},        {"ns", 1},
    {"microseconds", 1000},    {"microsecond", 1000},    {"us", 1000},
    {"\xc2\xb5s", 1000}, /* micro sign */
    {"\xce\xbcs", 1000}, /* Greek mu */
    {"milliseconds", 1000000}, {"millisecond", 1000000}, {"ms", 1000000},
    {"seconds", 1000000000},   {"second", 1000000000},   {"s", 1000000000},
};

const char *sp_report_unit(const char *unit, int64_t *scale) {
  size_t i;

  *scale = 1;
  for (i = 0; i < SP_COUNT_OF(unit_times); i++) {
    if (strcmp(unit, unit_times[i].name) == 0) {
      *scale = unit_times[i].ns;
      return "nanoseconds";
    }
  }
  return unit;
}

static void unit_bytes(int64_t value, char out[SP_REPORT_VALUE_BYTES]) {
  static const char *const prefixes[] = {"B",   "KiB", "MiB",
                                         "GiB", "TiB", "PiB"};
  double shown = (double)value;
  size_t i = 0;

  while ((shown >= 1024 || shown <= -1024) && i + 1 < SP_COUNT_OF(prefixes)) {
    shown /= 1024;
    i++;
  }
  snprintf(out, SP_REPORT_VALUE_BYTES, "%.*f %s", i ? 1 : 0, shown,
           prefixes[i]);
}

void sp_report_value(int64_t value, const char *unit,
                     char out[SP_REPORT_VALUE_BYTES]) {
  if (strcmp(unit, "nanoseconds") == 0)
    snprintf(out, SP_REPORT_VALUE_BYTES, "%.3f", (double)value / 1e9);
  else if (strcmp(unit, "bytes") == 0)
    unit_bytes(value, out);
  else
    snprintf(out, SP_REPORT_VALUE_BYTES, "%" PRId64, value);
}

const char *sp_report_type_shown(const char *type) {
  return strcmp(type, "cpu") == 0 ? "CPU" : type;
}

void sp_report_heading(const char *type, const char *unit,
                       char out[SP_REPORT_VALUE_BYTES]) {
  const bool time = strcmp(unit, "nanoseconds") == 0;
  const int wide = snprintf(out, SP_REPORT_VALUE_BYTES, "%s%s",
                            sp_report_type_shown(type), time ? " s" : "");

  if (wide > UNIT_COLUMN)
    snprintf(out, SP_REPORT_VALUE_BYTES, time ? "seconds" : "value");
}

void sp_report_sentence(const char *type, const char *unit, int64_t value,
                        char *out, size_t size) {
  char shown[SP_REPORT_VALUE_BYTES];
  const char *behind = "";

  sp_report_value(value, unit, shown);
  if (strcmp(unit, "nanoseconds") == 0)
    behind = " s";
  else if (strcmp(unit, "bytes") != 0 && strcmp(unit, "count") != 0)
    behind = unit;
  snprintf(out, size, "%.80s %s%s%.40s", sp_report_type_shown(type), shown,
           *behind && *behind != ' ' ? " " : "", behind);
}

void sp_report_share(int64_t part, int64_t whole,
                     char out[SP_REPORT_VALUE_BYTES]) {
  if (whole == 0)
    snprintf(out, SP_REPORT_VALUE_BYTES, "-");
  else
    snprintf(out, SP_REPORT_VALUE_BYTES, "%.1f%%",
             100 * (double)part / (double)whole);
}
