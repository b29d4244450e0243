/* Removes frames that do not help a reader from a merged stack: native frames
 * that started the interpreter, and adjacent frames of a library without
 * symbols. All functions are called on the collector thread. */
#ifndef SP_READABLE_STACK_H
#define SP_READABLE_STACK_H

#include "profile/profile.h"

/* Number of cached addresses (32 KiB). The stacks of a busy process contain
 * some thousand addresses. */
#define SP_READABLE_SLOTS 2048

typedef struct sp_readable_slot {
  uint64_t code;
  uint32_t module;
  bool known; /* the slot is used */
  bool named;
} sp_readable_slot;

typedef struct sp_readable {
  /* Does a function's name exist for this address of the module? Called for
   * addresses that are not in the cache. */
  bool (*named)(void *data, uint32_t module, uint64_t code);
  void *data;
  sp_readable_slot places[SP_READABLE_SLOTS];
} sp_readable;

/* Remove frames from a stack in place. The innermost frame is the first.
 * Returns the number of remaining frames, at least one if `count` is not 0.
 *
 * Native frames outside of the outermost language frame are removed; a stack
 * without language frames keeps all frames. Adjacent frames without a name that
 * are in the same module, or in no module, become one frame SP_FRAME_MODULE. */
size_t sp_readable_stack(sp_readable *readable, sp_frame *frames, size_t count);

/* Empty the cache, because a module's file that could not be read before may be
 * readable now. */
void sp_readable_clear(sp_readable *readable);

#endif
