/* From a checked profile to the one that is kept: ids become numbers, locations
 * without a function become frames of their module, equal samples become one,
 * and labels of samples become labels of series. */
#ifndef SP_BUILD_H
#define SP_BUILD_H

#include "../model/received.h"
#include "raw_profile.h"
#include "series_labels.h"

/* `labels`: of the series, sorted, without empty ones. *out is NULL, which is
 * no failure, where no sample is left. Refuses labels that break a rule. */
spanprof_status sp_build(sp_received **out, const sp_raw_profile *profile,
                         const sp_series_labels *labels, sp_refusal *refusal);

#endif
