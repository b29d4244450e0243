/* CPython 3.13 to 3.15: frames are on a data stack, and the thread state points
 * to the innermost frame. Part of py_layout.h. */
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe_structs.h>
#endif

typedef struct _PyInterpreterFrame py_sp_pyframe;

/* Address of the pointer to the innermost frame. */
SP_SIGNAL_SAFE static inline const void *
layout_top_address(const PyThreadState *thread) {
  return &thread->current_frame;
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
#if PY_VERSION_HEX >= 0x030e0000
  case FRAME_OWNED_BY_INTERPRETER:
    return PY_SP_FRAME_SHIM;
#endif
#if PY_VERSION_HEX < 0x030f0000
  case FRAME_OWNED_BY_CSTACK:
    return PY_SP_FRAME_SHIM;
#endif
  default:
    return PY_SP_FRAME_OTHER;
  }
}

/* 3.14 stores flags in the lowest bits of a reference (pycore_stackref.h,
 * Py_TAG_BITS). */
SP_SIGNAL_SAFE static inline const PyCodeObject *
layout_frame_code(const py_sp_pyframe *frame) {
#if PY_VERSION_HEX >= 0x030e0000
  return (const PyCodeObject *)(frame->f_executable.bits & ~(uintptr_t)7);
#else
  return (const PyCodeObject *)frame->f_executable;
#endif
}

/* Returns the unit of the current or the next instruction. */
SP_SIGNAL_SAFE static inline int64_t
layout_frame_unit(const py_sp_pyframe *frame, const PyCodeObject *code) {
  return ((int64_t)(intptr_t)frame->instr_ptr -
          (int64_t)(intptr_t)code->co_code_adaptive) /
         (int64_t)sizeof(_Py_CODEUNIT);
}

/* Returns whether the frame is the outermost one that its call of the eval loop
 * executes. Always false, because the caller of such a frame is a shim
 * frame. */
SP_SIGNAL_SAFE static inline bool
layout_frame_is_entry(const py_sp_pyframe *frame) {
  (void)frame;
  return false;
}

#include "py_layout_stack.h"
