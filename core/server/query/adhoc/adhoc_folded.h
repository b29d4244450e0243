/* Folded stacks, one "outer;inner 30" on each line. Lines with two numbers, as
 * difffolded.pl of FlameGraph writes them, are the two sides of a comparison.
 * Empty lines and lines that begin with "#" are skipped. */
#ifndef SP_ADHOC_FOLDED_H
#define SP_ADHOC_FOLDED_H

#include "adhoc_profile.h"

/* Whether most of the first lines are such stacks, and at least one has a
 * caller, since lines of prose may end in a number, too. A file named *.folded
 * needs no caller. */
bool sp_adhoc_folded_is(const char *name, const char *text, size_t size);

/* Add the values to a side of the tree. The types are the file's `name` and, if
 * lines have two numbers, SP_ADHOC_BEFORE. Fractions are added exactly, and
 * each sum is rounded once. SPANPROF_ERR_ARGUMENT: *fault says why. */
#define SP_ADHOC_BEFORE "before"

spanprof_status sp_adhoc_folded_read(sp_adhoc_profile *out, sp_arena *arena,
                                     const char *name, const char *text,
                                     size_t size, const char *type,
                                     sp_function_tree *tree, uint32_t side,
                                     sp_query_fault *fault);

#endif
