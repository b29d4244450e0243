/* Reads a file into a function tree: flamebearer, speedscope, or a format of
 * foreign_file.h. */
#ifndef SP_ADHOC_PROFILE_H
#define SP_ADHOC_PROFILE_H

#include "server/query/format/flamebearer.h"
#include "server/query/selector/query_fault.h"

typedef struct sp_adhoc_profile {
  const char **types; /* names of the types of values in the file */
  size_t type_count;
  size_t type;           /* index of the type whose values are in the tree */
  sp_flamebearer bearer; /* name, units and sample rate of this type */
} sp_adhoc_profile;

/* Read the contents of the file `name` and add the values of `type` to the side
 * `side` of the tree (function_tree.h). If `type` is NULL or unknown, the first
 * type is used. Everything that *out points to is in the arena. Returns
 * SPANPROF_ERR_ARGUMENT and sets *fault if the file cannot be read. */
spanprof_status sp_adhoc_profile_read(sp_adhoc_profile *out, sp_arena *arena,
                                      const char *name, const void *bytes,
                                      size_t size, const char *type,
                                      sp_function_tree *tree, uint32_t side,
                                      sp_query_fault *fault);

#endif
