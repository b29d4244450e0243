/* CPython 3.11 to 3.15: the data stack of a thread, a list of chunks that
 * contain its frames. Part of py_layout.h. */
#define PY_SP_LAYOUT_DATA_STACK 1

typedef _PyStackChunk py_sp_chunk;

/* Returns the innermost chunk. */
SP_SIGNAL_SAFE static inline const py_sp_chunk *
layout_stack_chunk(const PyThreadState *thread) {
  return thread->datastack_chunk;
}

/* Returns the end of the used part of the innermost chunk. */
SP_SIGNAL_SAFE static inline const char *
layout_stack_top(const PyThreadState *thread) {
  return (const char *)thread->datastack_top;
}

/* Maximum number of objects that py_prefetch.c notes per sample: nodes of a
 * context. A list has the size of a cache line. */
#define PY_SP_LAYOUT_OBJECTS      7
#define PY_SP_LAYOUT_OBJECTS_DATA SP_HANDLER_DATA

SP_SIGNAL_SAFE static inline void layout_object_prefetch(const char *object) {
  __builtin_prefetch(object + offsetof(PyObject, ob_type));
}

/* Number of cache lines at the top of the data stack that are prefetched,
 * enough for the innermost five frames. The processor's own prefetcher loads
 * the following lines. */
#define LAYOUT_STACK_LINES 10

SP_SIGNAL_SAFE static inline void
layout_thread_prefetch(const PyThreadState *thread) {
  const char *top = layout_stack_top(thread);
  unsigned line;

  __builtin_prefetch(layout_stack_chunk(thread));
  for (line = 1; line <= LAYOUT_STACK_LINES; line++)
    __builtin_prefetch(top - line * SP_CACHE_LINE);
}
