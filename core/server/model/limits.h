/* Limits of one uploaded profile. The default limits (sp_limits_own) only
 * protect the data structures, because the memory of an upload is bounded
 * separately (../receive/profile/upload_memory.h). */
#ifndef SP_LIMITS_H
#define SP_LIMITS_H

#include "util/base.h"

#define SP_LIMITS_LABELS_MAX ((size_t)256) /* of a series or of a sample */

typedef struct sp_limits {
  size_t profile_bytes; /* of pprof, decompressed */
  size_t pushed_bytes;  /* of a decompressed profile with its labels */
  size_t samples;
  size_t frames; /* of a stack; the innermost frames of deeper stacks are cut */
  size_t sample_labels;
  size_t series_labels;
  size_t label_value_bytes;
  size_t part_bytes; /* bytes of memory; a larger profile is stored in parts */
} sp_limits;

extern const sp_limits sp_limits_own;

/* The default limits of a Pyroscope tenant: 3fe6a457a, pkg/validation. */
extern const sp_limits sp_limits_pyroscope;

#endif
