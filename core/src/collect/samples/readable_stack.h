/* What of a merged stack is shown: neither what started the interpreter nor
 * one frame for each address of a stripped library. Used by the collector's
 * thread alone. */
#ifndef SP_READABLE_STACK_H
#define SP_READABLE_STACK_H

#include "profile/profile.h"

/* Addresses by hash: a busy process has some thousand different ones in its
 * stacks; 32 KiB. */
#define SP_READABLE_SLOTS 2048

typedef struct sp_readable_slot {
  uint64_t code;
  uint32_t module;
  bool known; /* the place is taken */
  bool named;
} sp_readable_slot;

typedef struct sp_readable {
  /* Has this address of a module a function's name? Asked once for each that
   * finds its place free. */
  bool (*named)(void *data, uint32_t module, uint64_t code);
  void *data;
  sp_readable_slot places[SP_READABLE_SLOTS];
} sp_readable;

/* Change a stack, innermost frame first, in place; returns how many frames are
 * left, at least one of one or more.
 *
 * Native frames outside the outermost frame of the language go; a stack without
 * one keeps all. Neighbours without a name in one module, or in none, become
 * one frame of it, SP_FRAME_MODULE. */
size_t sp_readable_stack(sp_readable *readable, sp_frame *frames, size_t count);

/* Ask anew: a file that could not be read may be read now. */
void sp_readable_clear(sp_readable *readable);

#endif
