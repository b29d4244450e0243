/* The memory of spans: 128 bytes each, in chunks that are never given back. See
 * span_record.h. */
#ifndef SP_SPAN_POOL_H
#define SP_SPAN_POOL_H

#include "label/span_record.h"

/* A span to fill, not yet visible; *number is what it will be found by.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT. */
spanprof_status sp_span_pool_acquire(sp_span **out, spanprof_span *number);

/* Make it visible with these bits. */
void sp_span_pool_publish(sp_span *span, spanprof_span number, uint32_t bits);

/* From now on `number` finds nothing. */
void sp_span_pool_retire(sp_span *span);

/* Give a retired, or never published, span back, by its old number. */
void sp_span_pool_release(spanprof_span number);

/* Around a fork. */
void sp_span_pool_lock(void);
void sp_span_pool_unlock(void);

#endif
