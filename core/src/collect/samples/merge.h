/* Merges native and language frames into one stack. */
#ifndef SP_MERGE_H
#define SP_MERGE_H

#include <spanprof/runtime.h>

#include "profile/profile.h"
#include "unwind/unwinder.h"

typedef struct sp_merge_input {
  const sp_native_frame *native; /* innermost first */
  size_t native_count;
  const bool *evaluates; /* for each native frame: is it in the eval loop? */
  /* For each native frame: the number of the C function of the language, which
   * replaces the frame, or 0. */
  const uint64_t *functions;
  bool native_whole;            /* `native` reaches the outermost frame */
  const spanprof_frame *walked; /* innermost first */
  size_t walked_count;
  bool walk_cut; /* `walked` ends before the outermost language frame */
} sp_merge_input;

/* Write at most `max` frames, innermost first, and return their number.
 *
 * A run of language frames, up to and including a frame with
 * SPANPROF_FRAME_ENTRY, replaces one native frame of the eval loop. Other
 * native frames keep their place. Runs and native frames of the eval loop are
 * paired from the outermost ones inwards, because the innermost call of the
 * eval loop may not have pushed a language frame yet. If one of the stacks is
 * incomplete, they are paired from the innermost ones outwards. Language frames
 * that remain come last (outermost). */
size_t sp_merge(const sp_merge_input *input, sp_frame *out, size_t max);

#endif
