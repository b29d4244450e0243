/* CPython 3.11 and 3.12: frames are on a data stack, and a structure on the C
 * stack of the innermost eval loop points to the innermost frame. Part of
 * py_layout.h. */
#include <internal/pycore_frame.h>

typedef struct _PyInterpreterFrame py_sp_pyframe;

/* Address of the pointer to the innermost frame. */
SP_SIGNAL_SAFE static inline const void *
layout_top_address(const PyThreadState *thread) {
  return &thread->cframe->current_frame;
}

SP_SIGNAL_SAFE static inline const py_sp_pyframe *
layout_frame_previous(const py_sp_pyframe *frame) {
  return frame->previous;
}

SP_SIGNAL_SAFE static inline py_sp_frame_kind
layout_frame_kind(const py_sp_pyframe *frame) {
  switch (frame->owner) {
  case FRAME_OWNED_BY_THREAD:
  case FRAME_OWNED_BY_GENERATOR:
    return PY_SP_FRAME_CODE;
#if PY_VERSION_HEX >= 0x030c0000
  case FRAME_OWNED_BY_CSTACK:
    return PY_SP_FRAME_SHIM;
#endif
  default:
    return PY_SP_FRAME_OTHER;
  }
}

SP_SIGNAL_SAFE static inline const PyCodeObject *
layout_frame_code(const py_sp_pyframe *frame) {
  return frame->f_code;
}

/* Returns the unit of the current instruction or of one of its inline cache
 * entries, or -1 before the first instruction. */
SP_SIGNAL_SAFE static inline int64_t
layout_frame_unit(const py_sp_pyframe *frame, const PyCodeObject *code) {
  return ((int64_t)(intptr_t)frame->prev_instr -
          (int64_t)(intptr_t)code->co_code_adaptive) /
         (int64_t)sizeof(_Py_CODEUNIT);
}

/* Returns whether the frame is the outermost one that its call of the eval loop
 * executes. Always false in 3.12, where the caller of such a frame is a shim
 * frame. */
SP_SIGNAL_SAFE static inline bool
layout_frame_is_entry(const py_sp_pyframe *frame) {
#if PY_VERSION_HEX >= 0x030c0000
  (void)frame;
  return false;
#else
  return frame->is_entry;
#endif
}

#include "py_layout_stack.h"
