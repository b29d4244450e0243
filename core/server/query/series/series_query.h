/* The points of a request, gathered in cells: what time series, heat maps and
 * timelines begin with. */
#ifndef SP_SERIES_QUERY_H
#define SP_SERIES_QUERY_H

#include "server/query/wire/query_plan.h"
#include "whole_points.h"

typedef struct sp_series_query {
  sp_series_steps steps;
  sp_whole_points points; /* and their groups */
  sp_series_cells cells;
} sp_series_query;

/* Sum up what `plan` selects between one step before the start and the last
 * point. Pair with sp_series_query_dispose() also where it fails. */
spanprof_status sp_series_query_run(sp_series_query *out, sp_query_plan *plan,
                                    const sp_series_steps *steps,
                                    const sp_texts *group_by);
void sp_series_query_dispose(sp_series_query *series);

#endif
