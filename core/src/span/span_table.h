/* The table of live spans, which finds a span by its trace id and span id. A
 * child uses it to find its local parent. */
#ifndef SP_SPAN_TABLE_H
#define SP_SPAN_TABLE_H

#include "span_pool.h"
#include "util/memory/mem.h"

typedef struct sp_span_ids {
  uint64_t trace_id[2]; /* all zero: match any trace */
  uint64_t span_id;
} sp_span_ids;

/* The spans that a child inherits. Each span number is 0, or owns one reference
 * to its span. */
typedef struct sp_span_family {
  spanprof_span root;
  spanprof_span carried; /* samples of the parent carry the id of this span */
  uint64_t trace_id[2];
} sp_span_family;

/* Find the parent, and add references to its root and to the span that the
 * parent carries. Returns false and sets *out to zero if this process has no
 * such parent. */
bool sp_span_table_family(const sp_span_ids *parent, sp_span_family *out);

/* Add a reference to a span to which the caller already has one. Does nothing
 * for 0. */
void sp_span_table_ref(spanprof_span number);

/* Add a reference to any span. Returns false if the span has been freed, or if
 * `number` is 0. */
bool sp_span_table_retain(spanprof_span number);

/* Drop a reference. Does nothing for 0. */
void sp_span_table_unref(spanprof_span number);

/* Add a span. Returns SPANPROF_ERR_NOMEM if there is no memory. */
spanprof_status sp_span_table_add(sp_span *span, spanprof_span number);

/* Remove the span if it has no references. Returns true if it was removed. */
bool sp_span_table_remove(sp_span *span, spanprof_span number);

/* Wait until a span that was never added has no references, and prevent new
 * ones. */
void sp_span_table_drop(sp_span *span);

/* Called around a fork. sp_span_table_reset() is for tests; no span may be live
 * when it is called. */
void sp_span_table_lock(void);
void sp_span_table_unlock(void);
void sp_span_table_reset(const sp_mem *mem);

#endif
