/* Removes frames that do not help a reader from a merged stack: frames that
 * started the interpreter, and repeated addresses of a stripped library. Used
 * by the collector's thread. */
#ifndef SP_READABLE_STACK_H
#define SP_READABLE_STACK_H

#include "profile/profile.h"

/* Cached addresses. The stacks of a busy process have some thousand. 32 KiB. */
#define SP_READABLE_SLOTS 2048

typedef struct sp_readable_slot {
  uint64_t code;
  uint32_t module;
  bool known; /* the slot is used */
  bool named;
} sp_readable_slot;

typedef struct sp_readable {
  /* Does this address of a module have a function's name? Called for addresses
   * that are not in the cache. */
  bool (*named)(void *data, uint32_t module, uint64_t code);
  void *data;
  sp_readable_slot places[SP_READABLE_SLOTS];
} sp_readable;

/* Change a stack in place, innermost frame first. Returns the number of
 * remaining frames, at least one if `count` is not 0.
 *
 * Native frames outside of the outermost language frame are removed. A stack
 * without language frames keeps all frames. Adjacent frames without a name in
 * one module, or in no module, become one frame SP_FRAME_MODULE. */
size_t sp_readable_stack(sp_readable *readable, sp_frame *frames, size_t count);

/* Empty the cache, because a file that could not be read may be readable now.
 */
void sp_readable_clear(sp_readable *readable);

#endif
