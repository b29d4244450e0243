/* Ids of spans and traces as hexadecimal digits, in upper or lower case. */
#ifndef SP_HEX_ID_H
#define SP_HEX_ID_H

#include "util/text/view.h"

/* Read a span id of 16 digits. If the text is anything else, returns false and
 * leaves *out unchanged. */
bool sp_hex_span_id(sp_view digits, uint64_t *out);

/* Read a trace id of 32 digits. If the text is anything else, returns false and
 * leaves *hi and *lo unchanged. */
bool sp_hex_trace_id(sp_view digits, uint64_t *hi, uint64_t *lo);

/* Returns eight bytes as a number, the most significant byte first. */
uint64_t sp_hex_from_bytes(const char *bytes);

#endif
