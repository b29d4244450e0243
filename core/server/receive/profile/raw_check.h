/* The checks of a whole profile, in the order of Pyroscope. */
#ifndef SP_RAW_CHECK_H
#define SP_RAW_CHECK_H

#include "raw_profile.h"
#include "series_labels.h"

/* The allowed range of a profile's time, in Unix time. Both ends are
 * exclusive. */
typedef struct sp_raw_window {
  int64_t now_ns;
  int64_t from_ns;  /* INT64_MIN: no limit */
  int64_t until_ns; /* INT64_MAX: no limit */
} sp_raw_window;

/* Check the profile. A profile without a time gets the current time, and the
 * beginning of texts longer than SP_RAW_TEXT_MAX is cut. The messages of
 * refusals contain `labels`. */
spanprof_status sp_raw_check(sp_raw_profile *profile,
                             const sp_raw_window *window,
                             const sp_limits *limits,
                             const sp_series_labels *labels,
                             sp_refusal *refusal);

#endif
