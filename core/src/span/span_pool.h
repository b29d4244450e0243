/* The memory of spans: 128 bytes for each span, in chunks that are never freed.
 * See span_record.h. */
#ifndef SP_SPAN_POOL_H
#define SP_SPAN_POOL_H

#include "label/span_record.h"

/* Acquire a span that is not visible yet. The caller fills it. *number is the
 * number that the span has after sp_span_pool_publish(). Returns
 * SPANPROF_ERR_LIMIT if there are SP_SPANS_MAX spans, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_span_pool_acquire(sp_span **out, spanprof_span *number);

/* Make the span visible, with `bits` in its state. */
void sp_span_pool_publish(sp_span *span, spanprof_span number, uint32_t bits);

/* Retire the span's number: from now on, a lookup of the number finds
 * nothing. */
void sp_span_pool_retire(sp_span *span);

/* Release a span that was retired or never published. `number` is its previous
 * number. */
void sp_span_pool_release(spanprof_span number);

/* Called around a fork. */
void sp_span_pool_lock(void);
void sp_span_pool_unlock(void);

#endif
