/* Random ids for spans that are started without one. */
#ifndef SP_SPAN_ID_H
#define SP_SPAN_ID_H

#include "util/base.h"

/* Return an id that is not 0 and does not repeat within the process. */
uint64_t sp_span_id_next(void);

/* Called in a forked child, so that its ids differ from those of its parent. */
void sp_span_id_forked(void);

#endif
