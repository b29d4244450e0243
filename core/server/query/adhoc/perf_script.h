/* The output of `perf script`: for each sample a header line, its frames from
 * the innermost outwards, and a blank line; without a call graph, one frame
 * after the event on the header line.
 */
#ifndef SP_PERF_SCRIPT_H
#define SP_PERF_SCRIPT_H

#include "adhoc_profile.h"

/* Whether a text begins as it does. */
bool sp_perf_script_is(const char *text, size_t size);

/* Add the samples of the event `type` to a side of the tree, as stacks of the
 * command and its functions. The value is the sample's period, or 1 if it has
 * none. Each event is a type; if `type` is NULL or unknown, the first event is
 * used. Texts are the arena's. Other lines than samples and frames are skipped.
 */
spanprof_status sp_perf_script_read(sp_adhoc_profile *out, sp_arena *arena,
                                    const char *text, size_t size,
                                    const char *type, sp_function_tree *tree,
                                    uint32_t side);

#endif
