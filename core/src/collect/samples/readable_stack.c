#include "readable_stack.h"

#include <string.h>

/* Has the frame a name? Looks it up in the cache. Module numbers are not
 * reused, and the names in a readable file do not change, so an entry of the
 * cache is valid until sp_readable_clear(), or until another address takes its
 * slot. */
static bool readable_named(sp_readable *readable, const sp_frame *frame) {
  const uint64_t mixed = (frame->code ^ ((uint64_t)frame->module << 40)) *
                         UINT64_C(0x9e3779b97f4a7c15);
  sp_readable_slot *place =
      &readable->places[(size_t)(mixed >> 32) % SP_READABLE_SLOTS];

  if (place->known && place->code == frame->code &&
      place->module == frame->module)
    return place->named;
  *place = (sp_readable_slot){
      .code = frame->code,
      .module = frame->module,
      .known = true,
      .named = readable->named(readable->data, frame->module, frame->code)};
  return place->named;
}

/* Return the number of frames up to the outermost language frame, or all frames
 * if there is none. */
static size_t readable_reach(const sp_frame *frames, size_t count) {
  size_t reach = count;

  while (reach > 0 && frames[reach - 1].kind != SP_FRAME_RUNTIME)
    reach--;
  return reach > 0 ? reach : count;
}

void sp_readable_clear(sp_readable *readable) {
  memset(readable->places, 0, sizeof readable->places);
}

size_t sp_readable_stack(sp_readable *readable, sp_frame *frames,
                         size_t count) {
  const size_t reach = readable_reach(frames, count);
  size_t kept = 0, i;

  for (i = 0; i < reach; i++) {
    sp_frame frame = frames[i];

    if (frame.kind == SP_FRAME_NATIVE &&
        (frame.module == 0 || !readable_named(readable, &frame))) {
      frame = (sp_frame){.kind = SP_FRAME_MODULE, .module = frame.module};
      if (kept > 0 && frames[kept - 1].kind == SP_FRAME_MODULE &&
          frames[kept - 1].module == frame.module)
        continue;
    }
    frames[kept++] = frame;
  }
  return kept;
}
