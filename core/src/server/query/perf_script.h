/* What `perf script` prints: a line for each sample, its frames innermost first
 * below it, and a blank line; without a call graph, one frame behind the event.
 */
#ifndef SP_PERF_SCRIPT_H
#define SP_PERF_SCRIPT_H

#include "adhoc_profile.h"
#include "name_tree.h"

/* Whether a text begins as it does. */
bool sp_perf_script_is(const char *text, size_t size);

/* Add the samples of the event `type` to a side of the tree, each as its
 * period, or as 1 where it has none: its command, then its functions. Each
 * event is a type; NULL, or an event that is not there: the first. Texts are
 * the arena's. Lines that are neither are skipped. */
spanprof_status sp_perf_script_read(sp_adhoc_profile *out, sp_arena *arena,
                                    const char *text, size_t size,
                                    const char *type, sp_name_tree *tree,
                                    uint32_t side);

#endif
