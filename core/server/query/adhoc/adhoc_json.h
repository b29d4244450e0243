/* Reads JSON files: classic Pyroscope's flamebearer, unless it is a comparison,
 * and speedscope's format. */
#ifndef SP_ADHOC_JSON_H
#define SP_ADHOC_JSON_H

#include "adhoc_profile.h"

/* Parameters and result are those of sp_adhoc_profile_read(). `text` has `size`
 * bytes. Sets *is_known to false, without a fault, if the text has neither
 * format. */
spanprof_status sp_adhoc_json_read(sp_adhoc_profile *out, sp_arena *arena,
                                   const char *text, size_t size,
                                   const char *type, sp_function_tree *tree,
                                   uint32_t side, bool *is_known,
                                   sp_query_fault *fault);

#endif
