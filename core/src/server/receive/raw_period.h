/* The one profile that Pyroscope panics over and real writers make. */
#ifndef SP_RAW_PERIOD_H
#define SP_RAW_PERIOD_H

#include "raw_profile.h"

/* Whether a sample is left out for its values: one is negative, or none is
 * positive. */
bool sp_raw_is_dropped(const sp_raw_profile *profile,
                       const sp_raw_sample *sample);

/* Refuse a checked profile without a period type in which a sample that is left
 * out has functions that no other has. */
spanprof_status sp_raw_period_check(const sp_raw_profile *profile,
                                    sp_refusal *refusal);

#endif
