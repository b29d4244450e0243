/* Reads the output of `perf script`. Each sample has a header line, its frames
 * from the innermost outwards, and a blank line. Without a call graph, the
 * header line has one frame after the event. */
#ifndef SP_PERF_SCRIPT_H
#define SP_PERF_SCRIPT_H

#include "adhoc_profile.h"

/* Returns whether a text begins like the output of `perf script`. */
bool sp_perf_script_is(const char *text, size_t size);

/* Add the samples of the event `type` to the side `side` of the tree
 * (function_tree.h), as stacks of the command and its functions. The value is
 * the sample's period, or 1 if it has none. Each event is a type; if `type` is
 * NULL or unknown, the first event is used. The texts that *out points to are
 * in the arena. Lines other than samples and frames are skipped. */
spanprof_status sp_perf_script_read(sp_adhoc_profile *out, sp_arena *arena,
                                    const char *text, size_t size,
                                    const char *type, sp_function_tree *tree,
                                    uint32_t side);

#endif
