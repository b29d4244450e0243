/* Interned texts: the names and values of labels have numbers that stay valid
 * for the life of the process. Reading a text takes no lock, so that any thread
 * can do it. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include "util/memory/mem.h"

/* Limits of the interned texts of a process. */
#define SP_TEXT_COUNT_MAX (UINT32_C(1) << 20)
#define SP_TEXT_BYTES_MAX (UINT64_C(64) << 20)

/* Return the bytes of an interned text, valid for the life of the process.
 * Returns "" for 0 and for unknown numbers. */
SP_SIGNAL_SAFE const char *sp_text_get(spanprof_text_id text, size_t *bytes);

/* Find the number of a text. Returns false if it is not interned. Lock-free. */
SP_SIGNAL_SAFE bool sp_text_find(const char *text, size_t bytes,
                                 spanprof_text_id *out);

/* Intern a clean text (see sp_clean_text()). Returns SPANPROF_ERR_NOMEM, or
 * SPANPROF_ERR_LIMIT if SP_TEXT_COUNT_MAX or SP_TEXT_BYTES_MAX is reached. */
spanprof_status sp_text_add(const char *text, size_t bytes,
                            spanprof_text_id *out);

/* Get the text that `text` becomes if it is used as a label name, with all
 * invalid characters replaced. At the first call for a text, a change is
 * counted in labels_cleaned. Signal-safe from the second call for a text on. */
spanprof_status sp_text_name_form(spanprof_text_id text, spanprof_text_id *out);

/* Count one more or one less distinct value of the name `text`, or compare
 * their number to `max`. sp_text_value_acquire() returns false if the name
 * already has `max` values. */
SP_SIGNAL_SAFE bool sp_text_value_acquire(spanprof_text_id text, uint32_t max);
SP_SIGNAL_SAFE void sp_text_value_release(spanprof_text_id text);
SP_SIGNAL_SAFE bool sp_text_values_full(spanprof_text_id text, uint32_t max);

/* The first two functions are called before and after a fork by label_fork.c.
 * sp_text_reset() is for tests: it removes every text, and allocates from `mem`
 * from now on. */
void sp_text_lock(void);
void sp_text_unlock(void);
void sp_text_reset(const sp_mem *mem);

#endif
