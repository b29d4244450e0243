/* The queries and timelines of classic calls. A query is "TYPE{…}",
 * "{__name__="TYPE",…}" or "app.cpu{…}". */
#ifndef SP_RENDER_QUERY_H
#define SP_RENDER_QUERY_H

#include "server/query/wire/query_plan.h"

/* Plan the query of a request. `parameter`, `from` and `until` are the names of
 * the parameters for the query and its range. A missing time is the current
 * time. SPANPROF_ERR_ARGUMENT: the query's fault is set. */
spanprof_status sp_render_plan(sp_query_plan *plan, const char *parameter,
                               const char *from, const char *until);

/* Get the type and unit of the values from the plan's profile type. The texts
 * are in the query's arena. */
spanprof_status sp_render_type(const sp_query_plan *plan, const char **type,
                               const char **unit);

/* Append a plan's values over time as JSON: a classic timeline, or, with the
 * label `group_by`, an object with a timeline for each value of the label. With
 * `empty`, the timeline has zeros, like Pyroscope's overall timeline of a
 * grouped query. */
spanprof_status sp_render_timeline(sp_query_plan *plan, const char *group_by,
                                   bool empty, sp_buffer *out);

#endif
