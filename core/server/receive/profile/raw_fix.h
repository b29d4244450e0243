/* Corrections that /ingest applies to profiles of old agents. */
#ifndef SP_RAW_FIX_H
#define SP_RAW_FIX_H

#include "raw_profile.h"

/* Replace a time in 1970 by `from_ns`. Such a time is missing, or is in
 * microseconds. */
void sp_raw_fix_time(sp_raw_profile *profile, int64_t from_ns);

/* Prefix names of functions of Ruby, Python and "scripting" with the file.
 * Names of Python functions with absolute paths are unchanged. */
spanprof_status sp_raw_fix_names(sp_raw_profile *profile, sp_view spy,
                                 sp_refusal *refusal);

/* Correct profiles of the .NET agent: replace dashes in types by underscores
 * and, if functions have no ids, give each function the id of the location at
 * the same index. */
spanprof_status sp_raw_fix_dotnet(sp_raw_profile *profile, sp_refusal *refusal);

#endif
