/* The characters of a JSON string (RFC 8259, 7), read and written one by one:
 * who needs whole documents has a library. */
#ifndef SP_JSON_STRING_H
#define SP_JSON_STRING_H

#include "util/base.h"

#define SP_JSON_CHARACTER_BYTES 4 /* of UTF-8 */
#define SP_JSON_ESCAPE_BYTES    7 /* "\u0000" and its NUL */

/* Read one character at *text, its escape undone, a pair of surrogates being
 * one, and step over it; the closing quote is the caller's to see. Returns how
 * many bytes it has in `out`. Bytes that need no escape come one at a time,
 * whether they are UTF-8 or not. 0: no character stands there. */
size_t sp_json_read(const char **text, const char *end,
                    char out[SP_JSON_CHARACTER_BYTES]);

/* How `c` is written in a string; NULL: as it stands. What an element of HTML
 * could end by is escaped where `in_html`. */
const char *sp_json_escape(char c, bool in_html,
                           char out[SP_JSON_ESCAPE_BYTES]);

#endif
