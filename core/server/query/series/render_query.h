/* The query of a classic call: "TYPE{…}", "{__name__="TYPE",…}", or
 * "app.cpu{…}". */
#ifndef SP_RENDER_QUERY_H
#define SP_RENDER_QUERY_H

#include "server/query/wire/query_plan.h"

/* Plan what the parameters ask for; `parameter` is the query's name, and `from`
 * and `until` those of its range, which is now where they are missing. */
spanprof_status sp_render_plan(sp_query_plan *plan, const char *parameter,
                               const char *from, const char *until);

/* The type and unit of values in the plan's profile type; the arena's. */
spanprof_status sp_render_type(const sp_query_plan *plan, const char **type,
                               const char **unit);

/* Sum up a plan's values over time as JSON: a classic timeline of all of them,
 * or with `group_by` an object with one for each value. `empty`: zeros, which
 * Pyroscope has for all of them where they are grouped. */
spanprof_status sp_render_timeline(sp_query_plan *plan, const char *group_by,
                                   bool empty, sp_buffer *out);

#endif
