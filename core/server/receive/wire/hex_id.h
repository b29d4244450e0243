/* Ids of spans and traces as hexadecimal digits, in any case. */
#ifndef SP_HEX_ID_H
#define SP_HEX_ID_H

#include "util/text/view.h"

/* Read 16 digits. Returns false, and leaves *out unchanged, for other text. */
bool sp_hex_span_id(sp_view digits, uint64_t *out);

/* Read 32 digits, likewise. */
bool sp_hex_trace_id(sp_view digits, uint64_t *hi, uint64_t *lo);

/* Eight bytes as a number, most significant byte first. */
uint64_t sp_hex_from_bytes(const char *bytes);

#endif
