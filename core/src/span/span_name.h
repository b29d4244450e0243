/* Names of spans. Short names are stored in the span itself. The number of
 * names that samples use is limited. */
#ifndef SP_SPAN_NAME_H
#define SP_SPAN_NAME_H

#include "span_pool.h"
#include "util/memory/mem.h"

/* Set the name of a span that is not visible yet. The name is cleaned, and
 * counted in span_names_cleaned if this changed it. If there is no memory, a
 * long name is truncated and counted, too. */
void sp_span_name_init(sp_span *span, const char *name, size_t bytes);

/* Set the name of a live span that has not ended, as sp_span_name_init() does.
 * Does nothing for other spans. */
void sp_span_name_set(spanprof_span number, const char *name, size_t bytes);

/* Copy the name, at most `size` bytes. Returns false if the number is
 * unknown. */
bool sp_span_name_copy(spanprof_span number, char *buffer, size_t size,
                       size_t *bytes);

/* Copy the name for a sample, as sp_span_name_copy() does. If the process has
 * reached its maximum number of names, the copy is "[other]", which is counted
 * once per span. */
bool sp_span_name_use(spanprof_span number, char *buffer, size_t size,
                      size_t *bytes);

/* Free the name, and retire the span's number. */
void sp_span_name_free(sp_span *span, spanprof_span number);

/* Set the number of distinct names that samples may use. */
void sp_span_names_max_set(uint32_t max);

/* Called around a fork. sp_span_name_reset() is for tests; no span may be live
 * when it is called. */
void sp_span_name_lock(void);
void sp_span_name_unlock(void);
void sp_span_name_reset(const sp_mem *mem);

#endif
