/* Detects whether the VM may move objects. While it may, the handler must not
 * walk stacks during a garbage collection: the VM protects the pages that it
 * empties, and an address does not identify an object. */
#ifndef RB_COMPACTION_H
#define RB_COMPACTION_H

#include <stdbool.h>

/* Read GC.auto_compact. From now on observe its changes and the methods that
 * compact the heap. Repeated calls have no effect. */
void rb_sp_compaction_watch(void);

/* Signal-safe. */
bool rb_sp_compaction_possible(void);

#endif
