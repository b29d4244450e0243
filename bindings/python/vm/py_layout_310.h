/* CPython 3.10: frames are objects, and each has its own eval loop. Part of
 * py_layout.h. */
#include <frameobject.h>

typedef struct _frame py_sp_pyframe;

/* A copy, because a handler must not read the page with the dynamic linker's
 * table of addresses. */
SP_HANDLER_DATA static PyTypeObject *layout_frame_type = &PyFrame_Type;

/* Address of the pointer to the innermost frame. */
SP_SIGNAL_SAFE static inline const void *
layout_top_address(const PyThreadState *thread) {
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

/* The unit of the current instruction, or -1 before the first one. */
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

/* There is no data stack: a frame is alive as long as it is linked. */
#define PY_SP_LAYOUT_DATA_STACK 0

typedef struct py_sp_chunk {
  struct py_sp_chunk *previous;
  size_t size;
  size_t top;
  PyObject *data[1];
} py_sp_chunk;

SP_SIGNAL_SAFE static inline const py_sp_chunk *
layout_stack_chunk(const PyThreadState *thread) {
  (void)thread;
  return NULL;
}

SP_SIGNAL_SAFE static inline const char *
layout_stack_top(const PyThreadState *thread) {
  (void)thread;
  return NULL;
}

/* Objects that one sample reads: nodes of a context, and frames. These are too
 * many to prefetch for all threads. */
#define PY_SP_LAYOUT_OBJECTS 31
#define PY_SP_LAYOUT_OBJECTS_DATA

/* The fields of a frame that a walk reads end with f_lasti, in the second or
 * third cache line. */
SP_SIGNAL_SAFE static inline void layout_object_prefetch(const char *object) {
  __builtin_prefetch(object + offsetof(PyObject, ob_type));
  __builtin_prefetch(object + SP_CACHE_LINE);
  __builtin_prefetch(object + offsetof(PyFrameObject, f_lasti));
}

SP_SIGNAL_SAFE static inline void
layout_thread_prefetch(const PyThreadState *thread) {
  __builtin_prefetch(thread->frame);
}
