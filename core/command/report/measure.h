/* Selects one value type of a profile, converts its values to the units of a
 * report, and determines the number of samples that a value stands for. */
#ifndef SP_MEASURE_H
#define SP_MEASURE_H

#include "command/shared/amount.h"
#include "profile/pprof/pprof_reader.h"

typedef struct sp_measure {
  uint32_t type;    /* index in profile->types */
  const char *unit; /* unit of the converted values: nanoseconds for every unit
                     * of time */
  int64_t scale;    /* factor that converts a value of the profile to `unit` */
  uint32_t samples_type; /* index of the type that counts samples, or
                          * SP_PPROF_NONE */
  double period; /* value of a sample, in the profile's unit; 0: unknown */
} sp_measure;

/* Select the type `wanted`. If `wanted` is NULL, select cpu, or the profile's
 * default type if there is no cpu. Returns SPANPROF_ERR_UNSUPPORTED and sets
 * the error message if the profile does not have the type. */
spanprof_status sp_measure_init(sp_measure *measure, const sp_pprof *profile,
                                const char *wanted);

/* Finds the first comment of the profile that begins with `name`. Returns the
 * number that follows `name` in it, or 0 if there is no such comment. */
uint64_t sp_measure_comment(const sp_pprof *profile, const char *name);

/* Get the converted value of a sample, and the number of samples that it stands
 * for: the count in the profile, or the value divided by the period if the
 * profile has no counts, or 1 if the period is unknown, too. The number is at
 * least 1. */
void sp_measure_sample(const sp_measure *measure, const sp_pprof_sample *sample,
                       sp_amount *out);

#endif
