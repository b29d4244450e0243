/* What of a profile is added up: one of its types, in our units, and how many
 * samples stand behind a value. */
#ifndef SP_MEASURE_H
#define SP_MEASURE_H

#include "command/shared/amount.h"
#include "profile/pprof/pprof_reader.h"

typedef struct sp_measure {
  uint32_t type;         /* index in the profile */
  const char *unit;      /* ours: nanoseconds for every time */
  int64_t scale;         /* of a value, to ours */
  uint32_t samples_type; /* a type that counts samples, or SP_PPROF_NONE */
  double period; /* value of a sample, in the profile's unit; 0: unknown */
} sp_measure;

/* `wanted` NULL: cpu, else the profile's default type.
 * SPANPROF_ERR_UNSUPPORTED: the profile has it not, said in a sentence. */
spanprof_status sp_measure_init(sp_measure *measure, const sp_pprof *profile,
                                const char *wanted);

/* The number behind `name` in a comment that begins with it; 0: none. */
uint64_t sp_measure_comment(const sp_pprof *profile, const char *name);

/* The value of a sample of this profile, and its number of samples: as the
 * profile counts them, else by its period, else one. */
void sp_measure_sample(const sp_measure *measure, const sp_pprof_sample *sample,
                       sp_amount *out);

#endif
