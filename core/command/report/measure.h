/* Selects one value type of a profile, converts its values to our units, and
 * determines the number of samples of a value. */
#ifndef SP_MEASURE_H
#define SP_MEASURE_H

#include "command/shared/amount.h"
#include "profile/pprof/pprof_reader.h"

typedef struct sp_measure {
  uint32_t type;         /* index in the profile */
  const char *unit;      /* our unit: nanoseconds for every unit of time */
  int64_t scale;         /* multiplies a value */
  uint32_t samples_type; /* a type that counts samples, or SP_PPROF_NONE */
  double period; /* value of a sample, in the profile's unit; 0: unknown */
} sp_measure;

/* Select the type `wanted`. If it is NULL, select cpu, or the profile's default
 * type if there is no cpu. SPANPROF_ERR_UNSUPPORTED, with a sentence: the
 * profile does not have this type. */
spanprof_status sp_measure_init(sp_measure *measure, const sp_pprof *profile,
                                const char *wanted);

/* Returns the number that follows `name` in a comment of the profile that
 * begins with `name`, or 0 if there is no such comment. */
uint64_t sp_measure_comment(const sp_pprof *profile, const char *name);

/* Get the value of a sample and the number of samples that it represents: the
 * profile's own count, or the value divided by the period if the profile has no
 * counts, or 1 if the period is unknown. */
void sp_measure_sample(const sp_measure *measure, const sp_pprof_sample *sample,
                       sp_amount *out);

#endif
