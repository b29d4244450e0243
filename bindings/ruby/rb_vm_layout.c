#include "rb_vm_layout.h"

/* rb_iseq_t: flags, wrapper, body. rb_iseq_constant_body: type, iseq_size (both
 * 32 bits), iseq_encoded. */
#define ISEQ_BODY_WORD         2
#define BODY_COUNT_BYTES       4
#define BODY_INSTRUCTIONS_WORD 1

static const rb_sp_vm_layout layout_3_1 = {.thread_ec_bytes = 40,
                                           .control_frame_words = 8};
static const rb_sp_vm_layout layout_3_3 = {.thread_ec_bytes = 48,
                                           .control_frame_words = 7};

const rb_sp_vm_layout *rb_sp_vm_layout_find(int major, int minor) {
  if (major != 3)
    return NULL;
  if (minor == 1)
    return &layout_3_1;
  return minor == 3 || minor == 4 ? &layout_3_3 : NULL;
}

rb_sp_instructions rb_sp_iseq_instructions(VALUE iseq) {
  const char *body = ((const char *const *)iseq)[ISEQ_BODY_WORD];

  return (rb_sp_instructions){
      .first = ((const VALUE *const *)body)[BODY_INSTRUCTIONS_WORD],
      .count = *(const uint32_t *)(body + BODY_COUNT_BYTES)};
}
