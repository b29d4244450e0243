/* Removes frames that do not help a reader from a merged stack: frames of the
 * interpreter itself, frames of the code that started the interpreter, and
 * repeated addresses of a stripped library. Used by the collector's thread. */
#ifndef SP_READABLE_STACK_H
#define SP_READABLE_STACK_H

#include "profile/profile.h"

/* Number of cached addresses (32 KiB). The stacks of a busy process contain
 * some thousand addresses. */
#define SP_READABLE_SLOTS 2048

typedef enum sp_readable_kind {
  SP_READABLE_NAMED,       /* a function with a name */
  SP_READABLE_NAMELESS,    /* code without symbols, or code in no module */
  SP_READABLE_INTERPRETER, /* code of the language's interpreter */
} sp_readable_kind;

typedef struct sp_readable_slot {
  uint64_t code;
  uint32_t module;
  bool known; /* the slot is used */
  uint8_t kind;
} sp_readable_slot;

typedef struct sp_readable {
  /* Returns the kind of an address in a module. Called for addresses that are
   * not in the cache. */
  sp_readable_kind (*kind)(void *data, uint32_t module, uint64_t code);
  void *data;
  sp_readable_slot slots[SP_READABLE_SLOTS];
} sp_readable;

/* Remove frames from a stack in place. The innermost frame is the first.
 * Returns the number of remaining frames, at least one if `count` is not 0.
 *
 * In a stack with language frames, native frames outside of the outermost
 * language frame and all frames of the interpreter are removed. In a stack
 * without language frames, one frame SP_NOTE_INTERPRETER replaces adjacent
 * frames of the interpreter. Adjacent frames without a name in one module, or
 * in no module, become one frame SP_FRAME_MODULE. */
size_t sp_readable_stack(sp_readable *readable, sp_frame *frames, size_t count);

/* Empty the cache, because a file that could not be read may be readable now,
 * or because another runtime was registered. */
void sp_readable_clear(sp_readable *readable);

#endif
