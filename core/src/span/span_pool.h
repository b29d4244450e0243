/* The memory of spans: 128 bytes each, in chunks that are never freed. See
 * span_record.h. */
#ifndef SP_SPAN_POOL_H
#define SP_SPAN_POOL_H

#include "label/span_record.h"

/* Acquire a span that is not visible yet. The caller fills it. *number is the
 * number of the span after sp_span_pool_publish(). SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT. */
spanprof_status sp_span_pool_acquire(sp_span **out, spanprof_span *number);

/* Make the span visible, with these bits of its state. */
void sp_span_pool_publish(sp_span *span, spanprof_span number, uint32_t bits);

/* Retire the span's number: from now on it finds nothing. */
void sp_span_pool_retire(sp_span *span);

/* Release a retired or never published span, by its old number. */
void sp_span_pool_release(spanprof_span number);

/* Called around a fork. */
void sp_span_pool_lock(void);
void sp_span_pool_unlock(void);

#endif
