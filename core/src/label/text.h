/* Interned texts: numbers for label names and values, for the life of the
 * process. Reading is lock-free, so that labels resolve on any thread. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include "util/memory/mem.h"

/* Bounds of what a process can intern. */
#define SP_TEXT_COUNT_MAX (UINT32_C(1) << 20)
#define SP_TEXT_BYTES_MAX (UINT64_C(64) << 20)

/* The bytes behind a number: valid for the life of the process. 0 is "", and
 * so is a number that was never given out. */
SP_SIGNAL_SAFE const char *sp_text_get(spanprof_text_id text, size_t *bytes);

/* The number of a text that is interned; false: it is not. Lock-free. */
SP_SIGNAL_SAFE bool sp_text_find(const char *text, size_t bytes,
                                 spanprof_text_id *out);

/* Intern a text that sp_clean_text() has seen. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT. */
spanprof_status sp_text_add(const char *text, size_t bytes,
                            spanprof_text_id *out);

/* `text` as a label name, cleaned (and counted) the first time it is asked for.
 * Signal-safe from the second time on. */
spanprof_status sp_text_name_form(spanprof_text_id text, spanprof_text_id *out);

/* Count one more distinct value of the name `text` unless it has `max`. */
SP_SIGNAL_SAFE bool sp_text_value_acquire(spanprof_text_id text, uint32_t max);
SP_SIGNAL_SAFE void sp_text_value_release(spanprof_text_id text);
SP_SIGNAL_SAFE bool sp_text_values_full(spanprof_text_id text, uint32_t max);

/* Around a fork (label_fork.h), and for tests: forget every text, and allocate
 * from `mem` from now on. */
void sp_text_lock(void);
void sp_text_unlock(void);
void sp_text_reset(const sp_mem *mem);

#endif
