/* Reads the points that a request selects and sums them up in cells, from which
 * time series and timelines are made. */
#ifndef SP_SERIES_QUERY_H
#define SP_SERIES_QUERY_H

#include "merged_points.h"
#include "server/query/wire/query_plan.h"

typedef struct sp_series_query {
  sp_series_steps steps;
  sp_merged_points points; /* the points and their groups */
  sp_series_cells cells;
} sp_series_query;

/* Sum up the plan's selection from one step before the start of `steps` to
 * their last point. Dispose of *out also if this fails. */
spanprof_status sp_series_query_run(sp_series_query *out, sp_query_plan *plan,
                                    const sp_series_steps *steps,
                                    const sp_texts *group_by);
void sp_series_query_dispose(sp_series_query *series);

#endif
