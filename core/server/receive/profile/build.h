/* Converts a checked profile into the stored form: ids become numbers,
 * locations without a function become frames of their module, equal samples are
 * merged, and labels of samples become labels of series. */
#ifndef SP_BUILD_H
#define SP_BUILD_H

#include "raw_profile.h"
#include "series_labels.h"
#include "server/model/received.h"

/* Build from sample *next to the last one, or until a part is full, and advance
 * *next: a large profile becomes several of equal time and series. `labels` are
 * the series', sorted, without empty ones. If no sample is left, *out is NULL,
 * which is not a failure. The number of negative values, which count as 0, is
 * added to *negative_count. Refuses labels that break a rule. */
spanprof_status sp_build(sp_received **out, const sp_raw_profile *profile,
                         const sp_series_labels *labels,
                         const sp_limits *limits, size_t *next,
                         size_t *negative_count, sp_refusal *refusal);

#endif
