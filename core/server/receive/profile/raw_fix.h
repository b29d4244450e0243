/* Corrections that /ingest applies to profiles of old agents. */
#ifndef SP_RAW_FIX_H
#define SP_RAW_FIX_H

#include "raw_profile.h"

/* Replace the profile's time by `from_ns` if it is in 1970. Such a time is
 * missing (0), or in microseconds instead of nanoseconds. */
void sp_raw_fix_time(sp_raw_profile *profile, int64_t from_ns);

/* If the agent `spy` is that of Ruby, Python or "scripting", insert the file
 * before the name of each function. The names of Python functions whose file is
 * an absolute path are unchanged. */
spanprof_status sp_raw_fix_names(sp_raw_profile *profile, sp_view spy,
                                 sp_refusal *refusal);

/* Correct a profile of the .NET agent. Replace dashes in types by underscores
 * and, if the functions have no ids, give each function the id of the location
 * at the same index. */
spanprof_status sp_raw_fix_dotnet(sp_raw_profile *profile, sp_refusal *refusal);

#endif
