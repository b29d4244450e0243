/* Frees ended spans: see sp_span_sweep(). */
#ifndef SP_SPAN_SWEEP_H
#define SP_SPAN_SWEEP_H

#include "span_pool.h"

/* Report a span that has ended. The caller has set SP_SPAN_ENDED in its
 * state. */
void sp_span_sweep_ended(sp_span *span, spanprof_span number);

/* Free a span that is in no table, with its name and its references. */
void sp_span_sweep_free(sp_span *span, spanprof_span number);

/* Set whether a collector calls sp_span_sweep() regularly. */
void sp_span_sweep_owned(bool owned);

/* Called around a fork. */
void sp_span_sweep_lock(void);
void sp_span_sweep_unlock(void);

#endif
