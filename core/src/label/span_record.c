#include "span_record.h"

_Static_assert(sizeof(sp_span) <= 128, "a span has at most 128 bytes");

/* Process-wide, because a span's number is valid on every thread for the life
 * of the process. */
_Atomic(sp_span *) sp_span_chunks[SP_SPAN_CHUNKS];
