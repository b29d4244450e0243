/* What `perf script` prints: a line for each sample, its frames innermost first
 * below it, and a blank line. */
#ifndef SP_PERF_SCRIPT_H
#define SP_PERF_SCRIPT_H

#include "name_tree.h"

/* Whether a text begins as it does. */
bool sp_perf_script_is(const char *text, size_t size);

/* Add each sample as 1 to a side of the tree: its command, then its functions.
 * Names are the arena's. Lines that are neither are skipped. */
spanprof_status sp_perf_script_read(sp_arena *arena, sp_name_tree *tree,
                                    uint32_t side, const char *text,
                                    size_t size);

#endif
