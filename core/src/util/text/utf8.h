/* UTF-8: is it, and if not, make it. RFC 3629, no surrogates, no overlong
 * forms, as Go's unicode/utf8 (which Pyroscope uses) demands. */
#ifndef SP_UTF8_H
#define SP_UTF8_H

#include "util/base.h"

bool sp_utf8_valid(const char *text, size_t bytes);

/* Write a code point (below 0x110000, no surrogate); returns its bytes. */
size_t sp_utf8_write(uint32_t code, char out[4]);

/* Write a valid text of at most `capacity` bytes to `out` (which may be `text`
 * itself): each invalid byte and each control character below 0x20 becomes
 * `?`, and a text too long is cut between characters. Returns the new length;
 * *changed tells whether it differs. */
size_t sp_utf8_clean(const char *text, size_t bytes, char *out, size_t capacity,
                     bool *changed);

/* The same for what is shown: on a terminal, in a log, in a page. Of a
 * character that would control it (C0, DEL, C1, text direction) each byte
 * becomes `?`, too. */
size_t sp_utf8_printable(const char *text, size_t bytes, char *out,
                         size_t capacity);

#endif
