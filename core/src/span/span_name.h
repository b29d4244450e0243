/* Names of spans: kept in the span where short, and bounded in number where
 * samples use them. */
#ifndef SP_SPAN_NAME_H
#define SP_SPAN_NAME_H

#include "span_pool.h"
#include "util/memory/mem.h"

/* Give a span that is not visible yet its name, cleaned (and counted). Without
 * memory a long name is cut, and counted as cleaned. */
void sp_span_name_init(sp_span *span, const char *name, size_t bytes);

/* The same for a live span that has not ended; others are left alone. */
void sp_span_name_set(spanprof_span number, const char *name, size_t bytes);

/* Copy the name, at most `size` bytes of it; false: unknown number. */
bool sp_span_name_copy(spanprof_span number, char *buffer, size_t size,
                       size_t *bytes);

/* The same for a sample: "[other]" where the process has used up its names,
 * counted once a span. */
bool sp_span_name_use(spanprof_span number, char *buffer, size_t size,
                      size_t *bytes);

/* Free the name and retire the span's number. */
void sp_span_name_free(sp_span *span, spanprof_span number);

/* Distinct names samples may use. */
void sp_span_names_max_set(uint32_t max);

/* Around a fork, and for tests (no span may live then). */
void sp_span_name_lock(void);
void sp_span_name_unlock(void);
void sp_span_name_reset(const sp_mem *mem);

#endif
