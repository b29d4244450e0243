/* Reads CPU profiles of V8 (.cpuprofile) from Chrome's developer tools or node
 * --cpu-prof. */
#ifndef SP_ADHOC_CPUPROFILE_H
#define SP_ADHOC_CPUPROFILE_H

#include <jansson.h>

#include "adhoc_profile.h"

/* Returns whether a JSON file has this format. */
bool sp_adhoc_cpuprofile_is(const json_t *root);

/* Add the profile's nanoseconds, or its samples if it has no times, to the side
 * `side` of the tree (function_tree.h), without idle time. Returns
 * SPANPROF_ERR_ARGUMENT and sets *fault if the profile is malformed. */
spanprof_status sp_adhoc_cpuprofile_read(sp_adhoc_profile *out, sp_arena *arena,
                                         const json_t *root,
                                         sp_function_tree *tree, uint32_t side,
                                         sp_query_fault *fault);

#endif
