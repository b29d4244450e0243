#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_unit.h"
#include "util/system/status.h"
#include "util/text/number.h"

/* List the types of a profile for a message. */
static void measure_list_types(const sp_pprof *profile, char *out,
                               size_t size) {
  size_t i, used = 0;

  out[0] = '\0';
  for (i = 0; i < profile->type_count && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
                             profile->types[i].type);
}

static bool measure_counts_samples(const sp_pprof *profile, uint32_t type) {
  return strcmp(profile->types[type].type, "samples") == 0 &&
         strcmp(profile->types[type].unit, "count") == 0;
}

uint64_t sp_measure_comment(const sp_pprof *profile, const char *name) {
  const size_t bytes = strlen(name);
  uint64_t number = 0;
  size_t i;

  for (i = 0; i < profile->comment_count; i++) {
    const char *text = profile->comments[i];

    if (strncmp(text, name, bytes) != 0)
      continue;
    text += bytes;
    sp_number_read(&text, NULL, &number);
    break;
  }
  return number;
}

/* Returns the average number of timer ticks per sample in a profile of
 * spanprof, else 1. One signal can represent several ticks, for example if the
 * sample rate is higher than the rate of the kernel's timers, or after the
 * machine was suspended. The ticks of one signal are one sample. */
static double measure_ticks_of_sample(const sp_pprof *profile) {
  const uint64_t samples = sp_measure_comment(profile, "samples: taken ");
  const uint64_t ticks = sp_measure_comment(profile, "ticks: taken ");

  return samples && ticks > samples ? (double)ticks / (double)samples : 1;
}

spanprof_status sp_measure_init(sp_measure *measure, const sp_pprof *profile,
                                const char *wanted) {
  const sp_pprof_type *type;
  char types[200];
  uint32_t i;

  *measure =
      (sp_measure){.type = sp_pprof_type_find(profile, wanted ? wanted : "cpu"),
                   .samples_type = SP_PPROF_NONE};
  if (measure->type == SP_PPROF_NONE && !wanted)
    measure->type = profile->default_type;
  if (measure->type == SP_PPROF_NONE) {
    measure_list_types(profile, types, sizeof types);
    return sp_fail(SPANPROF_ERR_UNSUPPORTED,
                   "has no values of type %s; its types, for --type, are %s",
                   wanted, types);
  }
  type = &profile->types[measure->type];
  measure->unit = sp_report_unit(type->unit, &measure->scale);
  for (i = 0; i < profile->type_count; i++)
    if (measure_counts_samples(profile, i))
      measure->samples_type = i;
  /* Ignore a period with another unit, which belongs to another type: the
   * period "space" of Go's heap profiles belongs to inuse_space. */
  if (profile->period > 0 && !strcmp(profile->period_type.unit, type->unit))
    measure->period =
        (double)profile->period * measure_ticks_of_sample(profile);
  return SPANPROF_OK;
}

static int64_t measure_magnitude(int64_t value) {
  return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

void sp_measure_sample(const sp_measure *measure, const sp_pprof_sample *sample,
                       sp_amount *out) {
  const int64_t value = sample->values[measure->type];

  if (__builtin_mul_overflow(value, measure->scale, &out->value))
    out->value = value > 0 ? INT64_MAX : INT64_MIN;
  out->samples = 1;
  if (measure->samples_type != SP_PPROF_NONE)
    out->samples = measure_magnitude(sample->values[measure->samples_type]);
  else if (measure->period >= 1)
    out->samples = llround((double)measure_magnitude(value) / measure->period);
  if (out->samples <= 0)
    out->samples = 1;
}
