/* Reads a file in one of several formats into stacks of names: pprof, folded
 * stacks, perf script's output, flamebearer, speedscope, .cpuprofile. */
#ifndef SP_ADHOC_PROFILE_H
#define SP_ADHOC_PROFILE_H

#include "server/query/format/flamebearer.h"
#include "server/query/selector/query_fault.h"

typedef struct sp_adhoc_profile {
  const char **types; /* kinds of values in it */
  size_t type_count;
  size_t type;           /* the one in the tree */
  sp_flamebearer bearer; /* what is said about it */
} sp_adhoc_profile;

/* Read `bytes` of the file `name`, and add the values called `type` to a side
 * of the tree; NULL, or what there is none of: the first. All *out points to is
 * the arena's. SPANPROF_ERR_ARGUMENT: *fault. */
spanprof_status sp_adhoc_profile_read(sp_adhoc_profile *out, sp_arena *arena,
                                      const char *name, const void *bytes,
                                      size_t size, const char *type,
                                      sp_function_tree *tree, uint32_t side,
                                      sp_query_fault *fault);

#endif
