/* CPython 3.10: frames are objects, and each is executed by its own call of the
 * eval loop. Part of py_layout.h. */
#include <frameobject.h>

typedef struct _frame py_sp_pyframe;

/* The address of PyFrame_Type, stored next to other data of the signal handler,
 * so that the signal handler does not read it from the GOT, which is in another
 * page. */
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

/* Returns the unit of the current instruction, or -1 before the first
 * instruction. */
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

/* There is no data stack. A frame that the thread state or another frame links
 * is alive. */
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

/* Maximum number of objects that py_prefetch.c notes per sample: nodes of a
 * context, and frames. The lists of all threads are too large for
 * SP_HANDLER_DATA, the section that each sample prefetches. */
#define PY_SP_LAYOUT_OBJECTS 31
#define PY_SP_LAYOUT_OBJECTS_DATA

/* Prefetch the fields of a frame that the stack walk reads. The last is
 * f_lasti, in the second or third cache line. */
SP_SIGNAL_SAFE static inline void layout_object_prefetch(const char *object) {
  __builtin_prefetch(object + offsetof(PyObject, ob_type));
  __builtin_prefetch(object + SP_CACHE_LINE);
  __builtin_prefetch(object + offsetof(PyFrameObject, f_lasti));
}

SP_SIGNAL_SAFE static inline void
layout_thread_prefetch(const PyThreadState *thread) {
  __builtin_prefetch(thread->frame);
}
