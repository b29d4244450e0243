/* Checks and repairs UTF-8 according to RFC 3629. Surrogates and overlong forms
 * are invalid, as in Go's unicode/utf8, which Pyroscope uses. */
#ifndef SP_UTF8_H
#define SP_UTF8_H

#include "util/base.h"

bool sp_utf8_valid(const char *text, size_t bytes);

/* Write a code point (below 0x110000, no surrogate). Returns the number of
 * bytes. */
size_t sp_utf8_write(uint32_t code, char out[4]);

/* Write valid UTF-8 of at most `capacity` bytes to `out`, which may be `text`
 * itself. Each invalid byte and each control character below 0x20 becomes `?`.
 * A text that is too long is cut between characters. Returns the new length;
 * *changed is set if the result differs. */
size_t sp_utf8_clean(const char *text, size_t bytes, char *out, size_t capacity,
                     bool *changed);

/* Clean a text as sp_utf8_clean() does, but for a terminal, a log or a page:
 * each byte of a character that could control it (C0, DEL, C1, text direction)
 * becomes `?`, too. */
size_t sp_utf8_printable(const char *text, size_t bytes, char *out,
                         size_t capacity);

#endif
