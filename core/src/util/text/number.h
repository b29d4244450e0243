/* Reads decimal numbers, independent of the locale. No function here sets
 * spanprof_last_error(). */
#ifndef SP_NUMBER_H
#define SP_NUMBER_H

#include "util/base.h"

/* Read the digits at *text, at most to `end` (NULL: to the NUL), and advance
 * *text. Returns SPANPROF_ERR_FORMAT if there is no digit. If the number has
 * more than 64 bits, returns SPANPROF_ERR_LIMIT and sets *out to UINT64_MAX. */
spanprof_status sp_number_read(const char **text, const char *end,
                               uint64_t *out);

/* Read a number in the form that spanprof writes: no leading zeros, at most 64
 * bits. Advances *text only on success. */
bool sp_number_read_canonical(const char **text, uint64_t *out);

/* Is the whole text a number of at most `most`? If not, *out is 0. */
bool sp_number_is(const char *text, uint64_t most, uint64_t *out);

/* Read all of [start, end) as a number with an optional sign. Returns
 * SPANPROF_ERR_FORMAT if it is not a number. If the number has more than 64
 * bits, returns SPANPROF_ERR_LIMIT and sets *out to the nearest number. */
spanprof_status sp_number_signed(const char *start, const char *end,
                                 int64_t *out);

#endif
