/* Looks up the names and ancestors of the samples' spans in the stored
 * traces. */
#ifndef SP_SPAN_PARENTS_H
#define SP_SPAN_PARENTS_H

#include "server/query/selector/text_set.h"
#include "server/query/wire/query_plan.h"

typedef struct sp_span_parent {
  uint64_t span_id;
  uint64_t parent_id; /* 0 for a root span, or if no stored trace has the
                       * span */
  const char *name;   /* NULL if no stored trace has the span */
} sp_span_parent;

/* The names are in the query's arena. */
typedef struct sp_span_parents {
  sp_query *query;
  sp_text_set names;
  sp_span_parent *spans;
  size_t count;
  size_t capacity;
  sp_index index;
  spanprof_status st; /* status of the functions that the store calls */
} sp_span_parents;

/* Look up the spans of the samples in `stacks`, and all their ancestors.
 * Returns SPANPROF_ERR_LIMIT if there are more than 2^20 spans. Dispose of
 * *parents also if this fails. */
spanprof_status sp_span_parents_read(sp_span_parents *parents, sp_query *query,
                                     const sp_stack_tree *stacks);
void sp_span_parents_dispose(sp_span_parents *parents);

/* Returns the span with this id, or NULL if it is neither the span of a sample
 * nor an ancestor of one. */
const sp_span_parent *sp_span_parents_find(const sp_span_parents *parents,
                                           uint64_t span_id);

#endif
