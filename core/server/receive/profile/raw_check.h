/* Checks of a whole profile, in Pyroscope's order. */
#ifndef SP_RAW_CHECK_H
#define SP_RAW_CHECK_H

#include "raw_profile.h"
#include "series_labels.h"

/* The allowed range of a profile's time, both ends exclusive. Unix times. */
typedef struct sp_raw_window {
  int64_t now_ns;
  int64_t from_ns;  /* INT64_MIN: no limit */
  int64_t until_ns; /* INT64_MAX: no limit */
} sp_raw_window;

/* Check the profile. A profile without a time gets the current time, and the
 * beginning of long texts is cut. Refusals contain `labels`. */
spanprof_status sp_raw_check(sp_raw_profile *profile,
                             const sp_raw_window *window,
                             const sp_limits *limits,
                             const sp_series_labels *labels,
                             sp_refusal *refusal);

#endif
