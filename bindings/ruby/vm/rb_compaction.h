/* Detects whether the VM may move objects. If it may, the signal handler must
 * not walk stacks during a garbage collection, because the VM makes the pages
 * that it empties unreadable, and because another object may have the address
 * of an object that was moved. */
#ifndef RB_COMPACTION_H
#define RB_COMPACTION_H

#include <stdbool.h>

/* Read GC.auto_compact, and replace GC.auto_compact= and the methods that
 * compact the heap by methods that observe the calls. Repeated calls have no
 * effect. */
void rb_sp_compaction_watch(void);

/* Signal-safe. */
bool rb_sp_compaction_possible(void);

#endif
