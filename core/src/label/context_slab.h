/* The memory of contexts, except the threads' own contexts. The pages stay
 * mapped and are reused, so that a reader of a context that was just freed
 * reads a context without spans, never other memory.
 *
 * The caller holds the lock of context.c, except for the functions that only
 * read. */
#ifndef SP_CONTEXT_SLAB_H
#define SP_CONTEXT_SLAB_H

#include "context.h"

typedef struct sp_context_slab sp_context_slab;

/* Initialize an empty context and give it a new number. */
void sp_context_begin(spanprof_context *context);

/* Remove the labels, spans and mark of a context. */
void sp_context_clear(spanprof_context *context);

/* Allocate and free a context. The first function returns NULL if out of
 * memory. */
spanprof_context *sp_context_slab_acquire(void);
void sp_context_slab_release(spanprof_context *context);

/* Call `visit` for every context in use. Needs no lock. */
void sp_context_slab_each(void (*visit)(void *data,
                                        const spanprof_context *context),
                          void *data);

/* Return the number of contexts that all slabs in use have room for. */
uint32_t sp_context_slab_count(void);

#endif
