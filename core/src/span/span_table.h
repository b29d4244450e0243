/* Live spans by trace and span id, so that a child finds its local parent. */
#ifndef SP_SPAN_TABLE_H
#define SP_SPAN_TABLE_H

#include "span_pool.h"
#include "util/memory/mem.h"

typedef struct sp_span_ids {
  uint64_t trace_id[2]; /* all zero: any trace */
  uint64_t span_id;
} sp_span_ids;

/* What a child takes over; each number is 0 or holds one reference. */
typedef struct sp_span_family {
  spanprof_span root;
  spanprof_span carried; /* what the parent carries */
  uint64_t trace_id[2];
} sp_span_family;

/* Find the parent and take references. False: no such span is known here, and
 * *out is all zero. */
bool sp_span_table_family(const sp_span_ids *parent, sp_span_family *out);

/* One more reference to a span the caller has one to; 0 is fine. */
void sp_span_table_ref(spanprof_span number);

/* One more reference to any span. False: it is gone, or 0. */
bool sp_span_table_retain(spanprof_span number);

/* Give a reference back; 0 is fine. */
void sp_span_table_unref(spanprof_span number);

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_span_table_add(sp_span *span, spanprof_span number);

/* Take the span out unless something refers to it. */
bool sp_span_table_remove(sp_span *span, spanprof_span number);

/* End the references of a span that never came into the table. */
void sp_span_table_drop(sp_span *span);

/* Around a fork, and for tests (no span may live then). */
void sp_span_table_lock(void);
void sp_span_table_unlock(void);
void sp_span_table_reset(const sp_mem *mem);

#endif
