/* Reads folded stacks, one "outer;inner 30" on each line. Lines with two
 * numbers, as difffolded.pl of FlameGraph writes them, are the two sides of a
 * comparison. Empty lines and lines that begin with "#" are skipped. */
#ifndef SP_ADHOC_FOLDED_H
#define SP_ADHOC_FOLDED_H

#include "adhoc_profile.h"

/* Returns whether most of the first lines are folded stacks. At least one stack
 * must have a caller, because lines of prose may also end in a number, unless
 * the file is named *.folded. */
bool sp_adhoc_folded_is(const char *name, const char *text, size_t size);

/* Add the values to the side `side` of the tree (function_tree.h). The types
 * are the file's `name` and, if lines have two numbers, SP_ADHOC_BEFORE.
 * Fractions are added exactly, and each sum is rounded once. Returns
 * SPANPROF_ERR_ARGUMENT and sets *fault if the text is malformed. */
#define SP_ADHOC_BEFORE "before"

spanprof_status sp_adhoc_folded_read(sp_adhoc_profile *out, sp_arena *arena,
                                     const char *name, const char *text,
                                     size_t size, const char *type,
                                     sp_function_tree *tree, uint32_t side,
                                     sp_query_fault *fault);

#endif
