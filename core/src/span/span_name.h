/* Names of spans. Short names are stored in the span. The number of names that
 * samples use is bounded. */
#ifndef SP_SPAN_NAME_H
#define SP_SPAN_NAME_H

#include "span_pool.h"
#include "util/memory/mem.h"

/* Set the name of a span that is not visible yet. The name is cleaned (and
 * counted). Without memory, a long name is truncated and counted as cleaned. */
void sp_span_name_init(sp_span *span, const char *name, size_t bytes);

/* As sp_span_name_init(), for a live span that has not ended. Does nothing for
 * other spans. */
void sp_span_name_set(spanprof_span number, const char *name, size_t bytes);

/* Copy the name, at most `size` bytes. Returns false if the number is
 * unknown. */
bool sp_span_name_copy(spanprof_span number, char *buffer, size_t size,
                       size_t *bytes);

/* As sp_span_name_copy(), for a sample: "[other]" if the process has reached
 * its cap of names, counted once per span. */
bool sp_span_name_use(spanprof_span number, char *buffer, size_t size,
                      size_t *bytes);

/* Free the name, and retire the span's number. */
void sp_span_name_free(sp_span *span, spanprof_span number);

/* Set the number of distinct names that samples may use. */
void sp_span_names_max_set(uint32_t max);

/* Called around a fork. The reset is for tests; no span may be live then. */
void sp_span_name_lock(void);
void sp_span_name_unlock(void);
void sp_span_name_reset(const sp_mem *mem);

#endif
