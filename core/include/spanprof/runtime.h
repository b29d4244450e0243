/* For bindings: how the virtual machine of an interpreted language gives the
 * profiler its frames, their names, and the labels and span of its own
 * contexts. A process has at most one runtime. core/docs/write-a-binding.md
 * explains the steps. Programs that only want to be profiled need spanprof.h
 * alone.
 *
 * The order: the data of callbacks, the runtime, its registration, its threads.
 * The rules at the top of spanprof.h apply here too. */
#ifndef SPANPROF_RUNTIME_H
#define SPANPROF_RUNTIME_H

#include "spanprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A frame of the language: its identity, never a name. The runtime decides what
 * `code` and `offset` mean. Frames that are equal in both are one location. */
typedef struct spanprof_frame {
  uint64_t code;
  uint32_t offset;
  uint32_t flags; /* SPANPROF_FRAME_*; the other bits are the runtime's */
} spanprof_frame;

/* The outermost frame of one run of the eval loop. The native frame of the eval
 * function stands for the frames up to and including this one. */
#define SPANPROF_FRAME_ENTRY 1u

/* Set on the innermost frame: it describes all that runs (the garbage collector
 * of the VM, for example). Native frames further in, up to the eval loop, are
 * omitted. */
#define SPANPROF_FRAME_LEAF 2u

/* The interrupted thread. Valid during the callback. */
typedef struct spanprof_capture {
  size_t struct_size;
  const void *ucontext; /* ucontext_t of the interrupted thread */
  uint64_t pc;
  uint64_t sp;
  uint64_t stack_end; /* memory from sp to here is readable; 0: unknown */
  void *thread_data;  /* of spanprof_thread_set_data(), or NULL */
} spanprof_capture;

/* Labels, span and mark of the language's own context. */
typedef struct spanprof_context_view {
  size_t struct_size;
  spanprof_labels labels;
  spanprof_span span; /* of spanprof_span_carried() */
  spanprof_mark mark; /* of the recording that the context belongs to */
} spanprof_context_view;

/* The name of a frame. */
typedef struct spanprof_name {
  size_t struct_size;
  const char *function; /* NULL: unknown */
  size_t function_bytes;
  const char *file;
  size_t file_bytes;
  int64_t line;       /* of the offset, at most INT32_MAX; 0: unknown */
  int64_t start_line; /* of the function; 0: unknown */
} spanprof_name;

/* A range of native code, [start, end). */
typedef struct spanprof_range {
  uint64_t start;
  uint64_t end;
} spanprof_range;

/* The limit of eval ranges and of call ranges. An interpreter with a function
 * for each instruction, in a hot and a cold part, has 500. */
#define SPANPROF_RUNTIME_RANGES_MAX 1024

/* A language runtime.
 *
 * "In the handler" means: the callback runs in the signal handler, on the
 * interrupted thread. It must not allocate, lock, make a system call that
 * waits, change errno or read memory that may be unmapped. The other callbacks
 * run on the library's own thread and must not call spanprof. */
typedef struct spanprof_runtime {
  size_t struct_size; /* sizeof(spanprof_runtime) */
  const char *name;   /* "ruby": label process.runtime.name */
  const char *version;
  void *data; /* first argument of every callback */

  /* Write at most `max` frames, innermost first, and return their number. Set
   * *cut to 1 if the walk stopped early. In the handler. May be NULL. */
  size_t (*walk)(void *data, const spanprof_capture *capture,
                 spanprof_frame *frames, size_t max, int *cut);

  /* Fill `out` and return 1, or return 0 to use the context of the thread. In
   * the handler. May be NULL. */
  int (*read_context)(void *data, const spanprof_capture *capture,
                      spanprof_context_view *out);

  /* Return the address where the useful part of the native stack ends, or 0.
   * Memory beyond it (a VM stack, for example) is not copied, and native frames
   * beyond it do not count as missing. In the handler. May be NULL. */
  uint64_t (*stack_end)(void *data, const spanprof_capture *capture);

  /* Replace frames so that frames which look the same are equal, for example by
   * changing offsets into lines. Called before frames are compared and named.
   * May be NULL. */
  void (*normalize)(void *data, spanprof_frame *frames, size_t count);

  /* Name a frame: fill `out`, whose strings must be valid until the next call.
   * With want_names it is called only within spanprof_runtime_resolve(). On
   * SPANPROF_ERR_* the frame is named "(unknown)" and counted. */
  spanprof_status (*resolve)(void *data, const spanprof_frame *frame,
                             spanprof_name *out);

  /* Frames wait for names: arrange that spanprof_runtime_resolve() is called
   * soon on a thread where `resolve` may run (with the VM's lock, for example).
   * Must not wait. NULL: `resolve` may run on any thread. */
  void (*want_names)(void *data);

  /* The code of the eval loop, whose native frames are replaced by frames of
   * the language. Copied. */
  const spanprof_range *eval_ranges;
  size_t eval_range_count;

  /* Native code by which the eval loop calls functions (sends, argument
   * handling). It is omitted from stacks. Copied. */
  const spanprof_range *call_ranges;
  size_t call_range_count;
} spanprof_runtime;

/* Register the runtime of the process, before or after the session's start.
 * SPANPROF_ERR_STATE: one is registered. SPANPROF_ERR_ARGUMENT: no name, no
 * `resolve` with a `walk`, too many ranges, or an unknown struct_size. */
SPANPROF_API spanprof_status
spanprof_runtime_register(const spanprof_runtime *runtime);

/* Remove the runtime. No callback starts after the call; it waits for running
 * ones, at most a second. */
SPANPROF_API void spanprof_runtime_unregister(void);

/* Add a range to the registered runtime's eval loop: memory for a JIT compiler,
 * for example. Copied. A known range is not added again.
 * SPANPROF_ERR_ARGUMENT: the range is empty. SPANPROF_ERR_STATE: no runtime is
 * registered. SPANPROF_ERR_LIMIT: it has SPANPROF_RUNTIME_RANGES_MAX. */
SPANPROF_API spanprof_status
spanprof_runtime_eval_add(const spanprof_range *range);

/* Name at most `max` waiting frames: calls `resolve` on the calling thread.
 * Returns how many frames still wait. */
SPANPROF_API size_t spanprof_runtime_resolve(size_t max);

/* Set the thread_data of captures of the calling thread, and register the
 * thread. The pointer is stored even if the registration fails, except with
 * SPANPROF_ERR_NOMEM. Statuses: as spanprof_thread_register(). */
SPANPROF_API spanprof_status spanprof_thread_set_data(void *thread_data);

/* Store the labels and the span of the calling thread's current work, for a
 * language whose contexts only `read_context` can read. CPU time that is booked
 * at the thread's end, when the language's context is gone, has these labels
 * and this span, or those of the thread's last sample if that is later. Does
 * nothing on a thread that is not registered. Signal-safe. */
SPANPROF_API void
spanprof_thread_set_context(const spanprof_context_view *view);

#ifdef __cplusplus
}
#endif

#endif
