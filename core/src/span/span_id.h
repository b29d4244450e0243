/* Random ids for spans that come without, and their 16 digits. */
#ifndef SP_SPAN_ID_H
#define SP_SPAN_ID_H

#include "../util/base.h"

/* Never 0; not twice within a process. */
uint64_t sp_span_id_next(void);

/* In a forked child, so that it does not repeat its parent's ids. */
void sp_span_id_forked(void);

/* Write `count` bytes as 2 * count lowercase digits and a NUL. */
void sp_span_id_hex(const void *bytes, size_t count, char *out);

#endif
