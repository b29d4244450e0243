/* CPython 3.11 to 3.15: the data stack of a thread, a list of chunks that
 * contain its frames. Part of py_layout.h. */
#define PY_SP_LAYOUT_DATA_STACK 1

typedef _PyStackChunk py_sp_chunk;

/* The innermost chunk. */
SP_SIGNAL_SAFE static inline const py_sp_chunk *
layout_stack_chunk(const PyThreadState *thread) {
  return thread->datastack_chunk;
}

/* The end of the used part of the innermost chunk. */
SP_SIGNAL_SAFE static inline const char *
layout_stack_top(const PyThreadState *thread) {
  return (const char *)thread->datastack_top;
}

/* Objects that one sample reads: nodes of a context, one cache line of
 * pointers. */
#define PY_SP_LAYOUT_OBJECTS      7
#define PY_SP_LAYOUT_OBJECTS_DATA SP_HANDLER_DATA

SP_SIGNAL_SAFE static inline void layout_object_prefetch(const char *object) {
  __builtin_prefetch(object + offsetof(PyObject, ob_type));
}

/* Cache lines to prefetch before frames are walked: the innermost five frames.
 * From there on, the processor's own prefetcher continues. */
#define LAYOUT_STACK_LINES 10

SP_SIGNAL_SAFE static inline void
layout_thread_prefetch(const PyThreadState *thread) {
  const char *top = layout_stack_top(thread);
  unsigned line;

  __builtin_prefetch(layout_stack_chunk(thread));
  for (line = 1; line <= LAYOUT_STACK_LINES; line++)
    __builtin_prefetch(top - line * SP_CACHE_LINE);
}
