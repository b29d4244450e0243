#include "readable_stack.h"

#include <string.h>

/* An entry of the cache is valid until the end of the window, or until another
 * address replaces it: module numbers are not reused, and the names in a
 * module's file do not change. */
static sp_readable_kind readable_kind(sp_readable *readable,
                                      const sp_frame *frame) {
  const uint64_t mixed = (frame->code ^ ((uint64_t)frame->module << 40)) *
                         UINT64_C(0x9e3779b97f4a7c15);
  sp_readable_slot *slot =
      &readable->slots[(size_t)(mixed >> 32) % SP_READABLE_SLOTS];

  if (frame->module == 0)
    return SP_READABLE_NAMELESS;
  if (!slot->known || slot->code != frame->code ||
      slot->module != frame->module)
    *slot = (sp_readable_slot){.code = frame->code,
                               .module = frame->module,
                               .known = true,
                               .kind = (uint8_t)readable->kind(
                                   readable->data, frame->module, frame->code)};
  return slot->kind;
}

/* Return the number of frames up to the outermost language frame, 0 if there is
 * none. */
static size_t language_count(const sp_frame *frames, size_t count) {
  while (count > 0 && frames[count - 1].kind != SP_FRAME_RUNTIME)
    count--;
  return count;
}

/* Change a native frame to the frame that a reader sees. Returns false if the
 * reader does not see it. */
static bool native_read(sp_readable *readable, bool language, sp_frame *frame) {
  switch (readable_kind(readable, frame)) {
  case SP_READABLE_NAMED:
    return true;
  case SP_READABLE_NAMELESS:
    *frame = (sp_frame){.kind = SP_FRAME_MODULE, .module = frame->module};
    return true;
  case SP_READABLE_INTERPRETER:
    *frame = (sp_frame){.kind = SP_FRAME_NOTE, .code = SP_NOTE_INTERPRETER};
    return !language;
  }
  return true;
}

void sp_readable_clear(sp_readable *readable) {
  memset(readable->slots, 0, sizeof readable->slots);
}

size_t sp_readable_stack(sp_readable *readable, sp_frame *frames,
                         size_t count) {
  const size_t language = language_count(frames, count);
  const size_t end = language > 0 ? language : count;
  size_t kept = 0, i;

  for (i = 0; i < end; i++) {
    sp_frame frame = frames[i];

    if (frame.kind == SP_FRAME_NATIVE) {
      if (!native_read(readable, language > 0, &frame))
        continue;
      if (frame.kind != SP_FRAME_NATIVE && kept > 0 &&
          sp_frame_equal(&frame, &frames[kept - 1]))
        continue;
    }
    frames[kept++] = frame;
  }
  return kept;
}
