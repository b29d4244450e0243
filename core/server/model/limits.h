/* Limits of one uploaded profile. The default limits (sp_limits_own) only keep
 * numbers within the range of the data structures, because the memory of an
 * upload has its own limit (../receive/profile/upload_memory.h). */
#ifndef SP_LIMITS_H
#define SP_LIMITS_H

#include "util/base.h"

/* Largest number of labels of a series, or of a sample. */
#define SP_LIMITS_LABELS_MAX ((size_t)256)

typedef struct sp_limits {
  size_t profile_bytes; /* size of a decompressed pprof profile */
  size_t pushed_bytes;  /* size of a decompressed profile with its labels */
  size_t samples;
  size_t frames; /* number of frames of a stack; deeper stacks lose their
                  * innermost frames */
  size_t sample_labels;
  size_t series_labels;
  size_t label_value_bytes;
  size_t part_bytes; /* a profile that needs more bytes of memory is stored in
                      * parts */
} sp_limits;

extern const sp_limits sp_limits_own;

/* The default limits of a Pyroscope tenant, from pkg/validation of Pyroscope's
 * commit 3fe6a457a. */
extern const sp_limits sp_limits_pyroscope;

#endif
