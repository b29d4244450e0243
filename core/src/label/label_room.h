/* The room as a whole, for tests. */
#ifndef SP_LABEL_ROOM_H
#define SP_LABEL_ROOM_H

#include "../util/mem.h"

/* Forget every text, label set and span name, and allocate from `mem` from now
 * on (NULL: the C library). For tests that fail allocations: no other thread
 * may use labels or spans, and no span may live. */
void sp_label_room_reset(const sp_mem *mem);

#endif
