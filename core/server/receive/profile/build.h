/* Converts a checked profile into the stored form: ids become numbers,
 * locations without a function become frames of their module, equal samples are
 * merged, and labels of samples become labels of series. */
#ifndef SP_BUILD_H
#define SP_BUILD_H

#include "raw_profile.h"
#include "series_labels.h"
#include "server/model/received.h"

/* Build one part of a profile from the samples from number *next on, until none
 * remain or the part is full. Advances *next. The parts of a large profile have
 * the same time and series. `labels` are those of the series; they are sorted
 * and not empty. If no sample has a positive value, *out is NULL, which is not
 * an error. Negative values are treated as 0, and their number is added to
 * *negative_count. Refuses labels that violate a rule with
 * SP_REFUSAL_INVALID. */
spanprof_status sp_build(sp_received **out, const sp_raw_profile *profile,
                         const sp_series_labels *labels,
                         const sp_limits *limits, size_t *next,
                         size_t *negative_count, sp_refusal *refusal);

#endif
