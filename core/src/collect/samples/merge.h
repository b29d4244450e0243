/* One stack of native and language frames. */
#ifndef SP_MERGE_H
#define SP_MERGE_H

#include <spanprof/runtime.h>

#include "profile/profile.h"
#include "unwind/unwinder.h"

typedef struct sp_merge_input {
  const sp_native_frame *native; /* innermost first */
  size_t native_count;
  const bool *evaluates; /* per native frame: inside the eval loop */
  bool native_whole;     /* the native stack reaches its outermost frame */
  const spanprof_frame *walked; /* innermost first */
  size_t walked_count;
  bool walk_cut; /* the walk stopped before the outermost language frame */
} sp_merge_input;

/* Write at most `max` frames, innermost first; returns how many.
 *
 * A native frame of the eval loop stands for one run of language frames, up to
 * and including one marked SPANPROF_FRAME_ENTRY, and is replaced by it; other
 * native frames keep their place. Runs and eval frames are paired from the
 * outermost, because the innermost eval may not have pushed its frame yet; from
 * the innermost where either was cut. Language frames left over come
 * last (outermost). */
size_t sp_merge(const sp_merge_input *input, sp_frame *out, size_t max);

#endif
