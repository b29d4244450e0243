/* Reads and writes the characters of a JSON string (RFC 8259, 7) one by one.
 * Code that needs whole documents uses a library. */
#ifndef SP_JSON_STRING_H
#define SP_JSON_STRING_H

#include "util/base.h"

#define SP_JSON_CHARACTER_BYTES 4 /* UTF-8 */
#define SP_JSON_ESCAPE_BYTES    7 /* size of "\u0000" with its NUL */

/* Read one character at *text into `out`, decode its escape, and advance *text.
 * A surrogate pair is one character. The caller checks for the closing quote.
 * Bytes that need no escape are returned one at a time, whether they are UTF-8
 * or not. Returns the number of bytes in `out`, or 0 if there is no valid
 * character. */
size_t sp_json_read(const char **text, const char *end,
                    char out[SP_JSON_CHARACTER_BYTES]);

/* The escape of `c`, or NULL if `c` needs no escape. If `in_html` is set,
 * characters that could end an HTML element are escaped, too. */
const char *sp_json_escape(char c, bool in_html,
                           char out[SP_JSON_ESCAPE_BYTES]);

#endif
