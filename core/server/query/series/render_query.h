/* The queries and timelines of classic calls. A query is "TYPE{…}",
 * "{__name__="TYPE",…}" or "app.cpu{…}". */
#ifndef SP_RENDER_QUERY_H
#define SP_RENDER_QUERY_H

#include "server/query/wire/query_plan.h"

/* Set the plan from a request. `parameter`, `from` and `until` are the names of
 * the parameters for the query and its range. If a time is missing, the current
 * time is used. Returns SPANPROF_ERR_ARGUMENT and sets the query's fault if the
 * request is invalid. */
spanprof_status sp_render_plan(sp_query_plan *plan, const char *parameter,
                               const char *from, const char *until);

/* Get the type and unit of the values from the plan's profile type. The texts
 * are copied to the query's arena. */
spanprof_status sp_render_type(const sp_query_plan *plan, const char **type,
                               const char **unit);

/* Append a plan's values over time as JSON: a classic timeline, or, with the
 * label `group_by`, an object with a timeline for each value of the label. With
 * `empty`, all values of the timeline are 0, as in the overall timeline that
 * Pyroscope returns for a grouped query. */
spanprof_status sp_render_timeline(sp_query_plan *plan, const char *group_by,
                                   bool empty, sp_buffer *out);

#endif
