/* Converts an OTLP profile to the structure of pprof: one profile for each
 * service that its samples name. */
#ifndef SP_OTLP_PROFILE_H
#define SP_OTLP_PROFILE_H

#include "otlp_tables.h"
#include "server/receive/profile/raw_profile.h"

typedef struct sp_otlp_profile {
  sp_raw_profile raw;
  sp_view name;    /* the label __name__; empty if none can be derived */
  sp_view service; /* the samples' service; empty: the resource's */
} sp_otlp_profile;

/* Convert a profile. *out gets an array of *count profiles. Everything is
 * allocated in the arena of the tables. Refuses a profile that cannot be
 * converted with SP_REFUSAL_BROKEN. */
spanprof_status sp_otlp_profile_convert(sp_otlp_profile **out, size_t *count,
                                        const sp_otlp_tables *tables,
                                        sp_view message, sp_refusal *refusal);

#endif
