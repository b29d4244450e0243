/* Random ids for spans that come without. */
#ifndef SP_SPAN_ID_H
#define SP_SPAN_ID_H

#include "util/base.h"

/* Never 0; not twice within a process. */
uint64_t sp_span_id_next(void);

/* In a forked child, so that it does not repeat its parent's ids. */
void sp_span_id_forked(void);

#endif
