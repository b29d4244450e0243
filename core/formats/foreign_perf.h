/* Reads the output of `perf script`. Each sample has a header line, its frames
 * from the innermost outwards, and a blank line. Without a call graph, the
 * header line has one frame after the event. */
#ifndef SP_FOREIGN_PERF_H
#define SP_FOREIGN_PERF_H

#include "foreign_sums.h"

/* Returns whether a text begins like the output of `perf script`. */
bool sp_foreign_perf_is(sp_view text);

/* Add all samples, as stacks of the command and its functions. Each event is a
 * type. The value is the sample's period, or 1 if it has none. Lines other than
 * samples and frames are skipped. Returns the statuses of sp_foreign_add(). */
spanprof_status sp_foreign_perf_read(sp_foreign *foreign, sp_view text);

#endif
