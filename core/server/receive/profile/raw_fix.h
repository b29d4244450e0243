/* What /ingest mends in the profiles of old agents. */
#ifndef SP_RAW_FIX_H
#define SP_RAW_FIX_H

#include "raw_profile.h"

/* A time of 1970 is one in microseconds, or none: `from_ns` instead. */
void sp_raw_fix_time(sp_raw_profile *profile, int64_t from_ns);

/* Ruby's, Python's and "scripting" functions get their file before their name;
 * Python's not where the file's path is absolute. */
spanprof_status sp_raw_fix_names(sp_raw_profile *profile, sp_view spy,
                                 sp_refusal *refusal);

/* .NET's types have dashes, and its functions may have no ids. */
spanprof_status sp_raw_fix_dotnet(sp_raw_profile *profile, sp_refusal *refusal);

#endif
