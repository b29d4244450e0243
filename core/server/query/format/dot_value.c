#include "dot_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sp_dot_unit dot_times[] = {{"ns", 1},      {"us", 1e3},
                                        {"ms", 1e6},    {"s", 1e9},
                                        {"mins", 60e9}, {"hrs", 3600e9}};
static const sp_dot_unit dot_sizes[] = {{"B", 1},
                                        {"kB", 1024.0},
                                        {"MB", 1048576.0},
                                        {"GB", 1073741824.0},
                                        {"TB", 1099511627776.0}};

/* Returns the largest unit of a family in which the value is at least 1. */
static sp_dot_unit dot_best(const sp_dot_unit *family, size_t count,
                            double value) {
  size_t i = count - 1;

  while (i > 0 && value < family[i].size)
    i--;
  return family[i];
}

static sp_dot_unit dot_fit(const char *unit, double value) {
  if (strcmp(unit, "nanoseconds") == 0)
    return dot_best(dot_times, SP_COUNT_OF(dot_times), value);
  if (strcmp(unit, "bytes") == 0)
    return dot_best(dot_sizes, SP_COUNT_OF(dot_sizes), value);
  return (sp_dot_unit){strcmp(unit, "count") == 0 ? "" : unit, 1};
}

sp_dot_unit sp_dot_unit_of(const char *unit, int64_t smallest, int64_t total) {
  const sp_dot_unit small = dot_fit(unit, (double)smallest);
  const sp_dot_unit large = dot_fit(unit, (double)total);

  if (small.size != large.size && (double)smallest * 100 < (double)total)
    return dot_fit(unit, (double)smallest * 100);
  return small;
}

void sp_dot_value(sp_buffer *out, const sp_dot_unit *unit, int64_t value) {
  char text[64];
  size_t size;

  snprintf(text, sizeof text, "%.2f", (double)value / unit->size);
  size = strlen(text);
  if (strcmp(text + size - 3, ".00") == 0)
    text[size - 3] = '\0';
  sp_buffer_text(out, text);
  if (strcmp(text, "0") != 0)
    sp_buffer_text(out, unit->name);
}

void sp_dot_share(sp_buffer *out, int64_t value, int64_t total) {
  const double share = total ? fabs((double)value / (double)total) * 100 : 0;

  if (share >= 99.95 && share <= 100.05)
    sp_buffer_text(out, "100%");
  else if (share >= 1)
    sp_buffer_format(out, "%.2f%%", share);
  else
    sp_buffer_format(out, "%.2g%%", share);
}

void sp_dot_colour(sp_buffer *out, double share, bool is_background) {
  const double limited = share > 1 ? 1 : share < 0 ? 0 : share;
  const double value = is_background ? 0.93 : 0.7;
  double saturation = is_background ? 0.1 : 1.0, strength;

  if (limited < 0.2)
    saturation *= limited / 0.2;
  strength = limited > 0 ? pow(limited, 0.3) : 0;
  sp_buffer_format(out, "#%02x%02x%02x", (unsigned)(value * 255),
                   (unsigned)(value * (1 - saturation * strength) * 255),
                   (unsigned)(value * (1 - saturation) * 255));
}
