/* CPython 3.10: frames are objects, each of which has an eval loop of its own.
 * Part of py_layout.h. */
#include <frameobject.h>

typedef struct _frame py_sp_pyframe;

/* Here, and not in a page of the dynamic linker's. */
SP_HANDLER_DATA static PyTypeObject *layout_frame_type = &PyFrame_Type;

/* Where the innermost frame is told. */
SP_SIGNAL_SAFE static inline const void *
layout_top_place(const PyThreadState *thread) {
  return &thread->frame;
}

SP_SIGNAL_SAFE static inline const py_sp_pyframe *
layout_frame_previous(const py_sp_pyframe *frame) {
  return frame->f_back;
}

SP_SIGNAL_SAFE static inline py_sp_frame_kind
layout_frame_kind(const py_sp_pyframe *frame) {
  return Py_TYPE(frame) == layout_frame_type ? PY_SP_FRAME_CODE
                                             : PY_SP_FRAME_OTHER;
}

SP_SIGNAL_SAFE static inline const PyCodeObject *
layout_frame_code(const py_sp_pyframe *frame) {
  return frame->f_code;
}

/* The unit of the instruction that runs; -1: none has yet. */
SP_SIGNAL_SAFE static inline int64_t
layout_frame_unit(const py_sp_pyframe *frame, const PyCodeObject *code) {
  (void)code;
  return frame->f_lasti;
}

SP_SIGNAL_SAFE static inline bool
layout_frame_is_entry(const py_sp_pyframe *frame) {
  (void)frame;
  return true;
}

/* Frames have no stack of their own: each is alive as long as it is linked. */
#define PY_SP_LAYOUT_DATA_STACK 0
