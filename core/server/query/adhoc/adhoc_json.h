/* Uploaded JSON: classic Pyroscope's flamebearer, or speedscope's format. */
#ifndef SP_ADHOC_JSON_H
#define SP_ADHOC_JSON_H

#include "adhoc_profile.h"

/* As sp_adhoc_profile_read(). */
spanprof_status sp_adhoc_json_read(sp_adhoc_profile *out, sp_arena *arena,
                                   const char *text, size_t size,
                                   const char *type, sp_function_tree *tree,
                                   uint32_t side, sp_query_fault *fault);

#endif
