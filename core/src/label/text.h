/* Interned texts: label names and values have numbers that stay valid for the
 * life of the process. Reading is lock-free, so that any thread can resolve
 * labels. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include "util/memory/mem.h"

/* Limits of the interned texts of a process. */
#define SP_TEXT_COUNT_MAX (UINT32_C(1) << 20)
#define SP_TEXT_BYTES_MAX (UINT64_C(64) << 20)

/* The bytes of an interned text, valid for the life of the process. For 0 and
 * for unknown numbers, "". */
SP_SIGNAL_SAFE const char *sp_text_get(spanprof_text_id text, size_t *bytes);

/* Find the number of a text. Returns false if it is not interned. Lock-free. */
SP_SIGNAL_SAFE bool sp_text_find(const char *text, size_t bytes,
                                 spanprof_text_id *out);

/* Intern a clean text (see sp_clean_text()). SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT. */
spanprof_status sp_text_add(const char *text, size_t bytes,
                            spanprof_text_id *out);

/* Get the text of the label name for `text`: the cleaned text. At the first
 * call, a change by the cleaning is counted. Signal-safe from the second call
 * on. */
spanprof_status sp_text_name_form(spanprof_text_id text, spanprof_text_id *out);

/* Count one more distinct value of the name `text`. Returns false if it already
 * has `max`. */
SP_SIGNAL_SAFE bool sp_text_value_acquire(spanprof_text_id text, uint32_t max);
SP_SIGNAL_SAFE void sp_text_value_release(spanprof_text_id text);
SP_SIGNAL_SAFE bool sp_text_values_full(spanprof_text_id text, uint32_t max);

/* Called around a fork (label_fork.h). The reset is for tests: remove every
 * text, and allocate from `mem` from now on. */
void sp_text_lock(void);
void sp_text_unlock(void);
void sp_text_reset(const sp_mem *mem);

#endif
