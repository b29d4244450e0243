/* Writes a flame graph as classic Pyroscope's JSON, "flamebearer". */
#ifndef SP_FLAMEBEARER_H
#define SP_FLAMEBEARER_H

#include "server/query/tree/flame_graph.h"
#include "server/query/wire/query_plan.h"

typedef struct sp_flamebearer {
  const char *name;  /* "cpu" */
  const char *units; /* "samples" */
  int64_t sample_rate;
  const char *spy;
  const char *timeline; /* JSON, or NULL */
  const char *groups;   /* JSON, or NULL */
  bool groups_empty; /* if `groups` is NULL, write {} and not null, as Pyroscope
                      * does for files of text formats */
} sp_flamebearer;

/* Set the name, units and sample rate that Pyroscope has for a type and unit.
 */
void sp_flamebearer_units(const char *type, const char *unit,
                          sp_flamebearer *out);

/* Append the flame graph of a tree. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_flamebearer_put(sp_buffer *out, const sp_flamebearer *bearer,
                                   const sp_function_tree *tree);

/* Append the flame graph of `tree`, which has the merged stacks of the plan,
 * with the type and unit of the plan. `timeline` and `groups` are JSON or NULL.
 * Returns SPANPROF_ERR_ARGUMENT and sets the query's fault if the plan has no
 * valid type. */
spanprof_status sp_flamebearer_put_plan(sp_buffer *out, sp_query_plan *plan,
                                        const sp_function_tree *tree,
                                        const char *timeline,
                                        const char *groups);

#endif
