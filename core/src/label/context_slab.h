/* The memory of contexts other than threads' own. Its pages stay mapped and are
 * reused, so that a reader of a context that was just freed reads a context
 * without spans, never other memory.
 *
 * All functions that change something are called with the lock of context.c
 * held. */
#ifndef SP_CONTEXT_SLAB_H
#define SP_CONTEXT_SLAB_H

#include "context.h"

typedef struct sp_context_slab sp_context_slab;

/* Initialize an empty context with a number of its own. */
void sp_context_begin(spanprof_context *context);

/* Remove labels, spans and mark, as in free contexts. */
void sp_context_clear(spanprof_context *context);

/* Returns NULL if out of memory. */
spanprof_context *sp_context_slab_acquire(void);
void sp_context_slab_release(spanprof_context *context);

/* Visit every context in use. Needs no lock. */
void sp_context_slab_each(void (*visit)(void *data,
                                        const spanprof_context *context),
                          void *data);

/* The capacity of all slabs in use, in contexts. */
uint32_t sp_context_slab_count(void);

#endif
