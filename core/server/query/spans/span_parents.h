/* What traces say of the spans of samples: their names, and in which other
 * spans they are. */
#ifndef SP_SPAN_PARENTS_H
#define SP_SPAN_PARENTS_H

#include "server/query/selector/text_set.h"
#include "server/query/wire/query_plan.h"

typedef struct sp_span_parent {
  uint64_t span_id;
  uint64_t parent_id; /* 0: a root, or no trace has the span */
  const char *name;   /* NULL: no trace has it */
} sp_span_parent;

/* Names are of the query's memory. */
typedef struct sp_span_parents {
  sp_query *query;
  sp_text_set names;
  sp_span_parent *spans;
  size_t count;
  size_t room;
  sp_index index;
  spanprof_status st; /* of the reading */
} sp_span_parents;

/* Look up the spans of a tree's samples, and those that they are in.
 * SPANPROF_ERR_LIMIT: more than a million. Dispose of it in any case. */
spanprof_status sp_span_parents_read(sp_span_parents *parents, sp_query *query,
                                     const sp_stack_tree *stacks);
void sp_span_parents_dispose(sp_span_parents *parents);

/* NULL: it is of no sample, and no such span is in one. */
const sp_span_parent *sp_span_parents_find(const sp_span_parents *parents,
                                           uint64_t span_id);

#endif
