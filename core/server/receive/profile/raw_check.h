/* The rules that a profile as a whole must keep, in Pyroscope's order. */
#ifndef SP_RAW_CHECK_H
#define SP_RAW_CHECK_H

#include "raw_profile.h"
#include "series_labels.h"

/* Unix times between which, both ends left out, a profile may lie. */
typedef struct sp_raw_window {
  int64_t now_ns;
  int64_t from_ns;  /* INT64_MIN: no limit */
  int64_t until_ns; /* INT64_MAX: no limit */
} sp_raw_window;

/* A profile without a time gets the present time, and too long texts lose their
 * beginning. Refusals name `labels`. */
spanprof_status sp_raw_check(sp_raw_profile *profile,
                             const sp_raw_window *window,
                             const sp_limits *limits,
                             const sp_series_labels *labels,
                             sp_refusal *refusal);

#endif
