/* Ended spans on their way out: see sp_span_sweep(). */
#ifndef SP_SPAN_SWEEP_H
#define SP_SPAN_SWEEP_H

#include "span_pool.h"

/* A span has ended (its state says so already). */
void sp_span_sweep_ended(sp_span *span, spanprof_span number);

/* Free a span that is in no table: its name, its references, its place. */
void sp_span_sweep_free(sp_span *span, spanprof_span number);

/* Somebody calls sp_span_sweep() regularly, or nobody does. */
void sp_span_sweep_owned(bool owned);

/* Around a fork. */
void sp_span_sweep_lock(void);
void sp_span_sweep_unlock(void);

#endif
