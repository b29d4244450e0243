/* Reads folded stacks, one "outer;inner 30" on each line. Lines with two
 * numbers, as difffolded.pl of FlameGraph writes them, are the two sides of a
 * comparison. Empty lines and lines that begin with "#" are skipped. */
#ifndef SP_FOREIGN_FOLDED_H
#define SP_FOREIGN_FOLDED_H

#include "foreign_sums.h"

/* Returns whether most of the first lines are folded stacks. At least one stack
 * must have a caller, because lines of prose may also end in a number, unless
 * the file is named *.folded. */
bool sp_foreign_folded_is(const char *name, sp_view text);

/* Add the values of the type "samples" and, if lines have two numbers, of
 * SP_FOREIGN_BEFORE. Returns SPANPROF_ERR_FORMAT and sets the error message if
 * a line is malformed, or the statuses of sp_foreign_add(). */
spanprof_status sp_foreign_folded_read(sp_foreign *foreign, sp_view text);

#endif
