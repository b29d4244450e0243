/* From a checked profile to the one that is kept: ids become numbers, locations
 * without a function become frames of their module, equal samples become one,
 * and labels of samples become labels of series. */
#ifndef SP_BUILD_H
#define SP_BUILD_H

#include "../model/received.h"
#include "raw_profile.h"
#include "series_labels.h"

/* Build from the sample *next on, until there is no other or a part is
 * full, and set *next: a large profile becomes several of equal time and
 * series. `labels`: of the series, sorted, without empty ones. *out is NULL,
 * which is no failure, where no sample is left. *negative_count grows by the
 * negative values, which count as 0. Refuses labels that break a rule. */
spanprof_status sp_build(sp_received **out, const sp_raw_profile *profile,
                         const sp_series_labels *labels,
                         const sp_limits *limits, size_t *next,
                         size_t *negative_count, sp_refusal *refusal);

#endif
