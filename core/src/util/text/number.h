/* Decimal numbers in texts: the one reader of them, whatever the locale says.
 * Nothing here sets spanprof_last_error(). */
#ifndef SP_NUMBER_H
#define SP_NUMBER_H

#include "util/base.h"

/* Step over the digits at *text, as far as `end` (NULL: the text ends with a
 * NUL). SPANPROF_ERR_FORMAT: there is none. SPANPROF_ERR_LIMIT: past 64 bits,
 * *out is the largest number. */
spanprof_status sp_number_read(const char **text, const char *end,
                               uint64_t *out);

/* One as we write it ourselves: without leading zeros, within 64 bits. Steps
 * over it only if it is one. */
bool sp_number_read_canonical(const char **text, uint64_t *out);

/* Is the whole text digits, and their number at most `most`? Else *out is 0. */
bool sp_number_is(const char *text, uint64_t most, uint64_t *out);

/* All of [start, end), a sign before the digits or none. SPANPROF_ERR_FORMAT:
 * no number. SPANPROF_ERR_LIMIT: not within 64 bits; *out is the nearest. */
spanprof_status sp_number_signed(const char *start, const char *end,
                                 int64_t *out);

#endif
