/* Reads JSON files: classic Pyroscope's flamebearer, speedscope's format, and
 * .cpuprofile. */
#ifndef SP_ADHOC_JSON_H
#define SP_ADHOC_JSON_H

#include "adhoc_profile.h"

/* Parameters and result are those of sp_adhoc_profile_read(). `text` has `size`
 * bytes. */
spanprof_status sp_adhoc_json_read(sp_adhoc_profile *out, sp_arena *arena,
                                   const char *text, size_t size,
                                   const char *type, sp_function_tree *tree,
                                   uint32_t side, sp_query_fault *fault);

#endif
