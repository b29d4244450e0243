#include "foreign_json.h"

#include "util/system/status.h"

spanprof_status sp_foreign_malformed(const char *what) {
  return sp_fail(SPANPROF_ERR_FORMAT, "has a malformed %s", what);
}

spanprof_status sp_foreign_too_deep(void) {
  return sp_fail(SPANPROF_ERR_FORMAT,
                 "has a stack of more than %d frames, or a cycle",
                 SP_FOREIGN_DEPTH_MAX);
}

double sp_foreign_unit_ns(sp_view unit) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"nanoseconds", 1},    {"ns", 1},
               {"microseconds", 1e3}, {"us", 1e3},
               {"\xc2\xb5s", 1e3},    {"\xce\xbcs", 1e3},
               {"milliseconds", 1e6}, {"ms", 1e6},
               {"seconds", 1e9},      {"s", 1e9}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(units); i++)
    if (sp_view_is(unit, units[i].name))
      return units[i].ns;
  return 0;
}
