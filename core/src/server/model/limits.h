/* Bounds of one uploaded profile. An upload is bounded by its memory anyway
 * (../receive/upload_memory.h): the server's own bounds are those of its
 * tables alone. */
#ifndef SP_LIMITS_H
#define SP_LIMITS_H

#include "../../util/base.h"

#define SP_LIMITS_LABELS_MAX ((size_t)256) /* of a series, or of a sample */

typedef struct sp_limits {
  size_t profile_bytes; /* of pprof, unpacked */
  size_t pushed_bytes;  /* of an unpacked profile with its labels */
  size_t samples;
  size_t frames; /* of a stack: above, the innermost are cut */
  size_t sample_labels;
  size_t series_labels;
  size_t label_value_bytes;
  size_t part_bytes; /* of memory: a profile that takes more is kept in parts */
} sp_limits;

extern const sp_limits sp_limits_own;

/* The defaults of a tenant of Pyroscope: 3fe6a457a, pkg/validation. */
extern const sp_limits sp_limits_pyroscope;

#endif
