/* Where contexts are that are nobody's own: pages that stay mapped, and are
 * reused, so that whoever reads one that was just freed reads a context without
 * spans, never foreign memory.
 *
 * All that changes something is called with the lock of context.c held. */
#ifndef SP_CONTEXT_SLAB_H
#define SP_CONTEXT_SLAB_H

#include "context.h"

typedef struct sp_context_slab sp_context_slab;

/* Make a context empty, with a number of its own. */
void sp_context_begin(spanprof_context *context);

/* Make it one without labels and spans, as those that are free. */
void sp_context_clear(spanprof_context *context);

/* NULL: no memory. */
spanprof_context *sp_context_slab_acquire(void);
void sp_context_slab_release(spanprof_context *context);

/* Visit every context in use, without the lock. */
void sp_context_slab_each(void (*visit)(void *data,
                                        const spanprof_context *context),
                          void *data);

/* How many contexts slabs in use have room for. */
uint32_t sp_context_slab_count(void);

#endif
