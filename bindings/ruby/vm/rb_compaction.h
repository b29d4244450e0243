/* Whether objects may move now. Then nothing may be walked during a collection:
 * the VM protects the pages it empties, and an address is no identity. */
#ifndef RB_COMPACTION_H
#define RB_COMPACTION_H

#include <stdbool.h>

/* Learn whether GC.auto_compact is on, and watch it and the methods that
 * compact, from now on. Once. */
void rb_sp_compaction_watch(void);

/* Signal-safe. */
bool rb_sp_compaction_possible(void);

#endif
