/* The interface for language bindings: the virtual machine of an interpreted
 * language provides frames, their names, and the labels and span of its own
 * contexts. A process has at most one runtime. core/docs/write-a-binding.md
 * explains the steps. A program that is only profiled needs spanprof.h alone.
 *
 * The order is: the data of callbacks, the runtime, its registration, its
 * threads. The rules at the top of spanprof.h apply. */
#ifndef SPANPROF_RUNTIME_H
#define SPANPROF_RUNTIME_H

#include "spanprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identity of a frame of the language, without a name. The runtime defines
 * `code` and `offset`. Frames with equal `code` and `offset` are one
 * location. */
typedef struct spanprof_frame {
  uint64_t code;
  uint32_t offset;
  uint32_t flags; /* SPANPROF_FRAME_*; the other bits are the runtime's */
} spanprof_frame;

/* Flag of the outermost frame of one run of the eval loop. The frames up to and
 * including this one replace one native frame of the eval function. */
#define SPANPROF_FRAME_ENTRY 1u

/* Flag of an innermost frame that describes all running native code, such as
 * the VM's garbage collector. The native frames inside of the innermost frame
 * of the eval loop are omitted. */
#define SPANPROF_FRAME_LEAF 2u

/* The state of the interrupted thread. Valid during the callback. */
typedef struct spanprof_capture {
  size_t struct_size;
  const void *ucontext; /* ucontext_t of the interrupted thread */
  uint64_t pc;
  uint64_t sp;
  uint64_t stack_end; /* end of the readable memory from sp; 0: unknown */
  void *thread_data;  /* from spanprof_thread_set_data(), or NULL */
} spanprof_capture;

/* Labels, span and mark of the language's own context. */
typedef struct spanprof_context_view {
  size_t struct_size;
  spanprof_labels labels;
  spanprof_span span; /* a result of spanprof_span_carried() */
  spanprof_mark mark; /* of the context's recording */
} spanprof_context_view;

/* The name of a frame. */
typedef struct spanprof_name {
  size_t struct_size;
  const char *function; /* NULL: unknown */
  size_t function_bytes;
  const char *file;
  size_t file_bytes;
  int64_t line;       /* at the offset, at most INT32_MAX; 0: unknown */
  int64_t start_line; /* of the function; 0: unknown */
} spanprof_name;

/* A range of native code, [start, end). */
typedef struct spanprof_range {
  uint64_t start;
  uint64_t end;
} spanprof_range;

/* Maximum number of eval ranges, and of call ranges. An interpreter that has a
 * function for each instruction, in a hot and a cold part, needs 500. */
#define SPANPROF_RUNTIME_RANGES_MAX 1024

/* A language runtime.
 *
 * "In the handler" means that the callback runs in the signal handler, on the
 * interrupted thread. It must not allocate, lock, make a system call that
 * waits, change errno, or read memory that may be unmapped. The other callbacks
 * run on the library's own thread, unless a comment says otherwise, and must
 * not call spanprof. */
typedef struct spanprof_runtime {
  size_t struct_size; /* sizeof(spanprof_runtime) */
  const char *name;   /* label process.runtime.name, such as "ruby" */
  const char *version;
  void *data; /* the first argument of every callback */

  /* Write at most `max` frames, innermost first, and return their number. Set
   * *cut to 1 if the walk stopped early. In the handler. May be NULL. */
  size_t (*walk)(void *data, const spanprof_capture *capture,
                 spanprof_frame *frames, size_t max, int *cut);

  /* Fill `out` and return 1, or return 0 to use the context of the thread. In
   * the handler. May be NULL. */
  int (*read_context)(void *data, const spanprof_capture *capture,
                      spanprof_context_view *out);

  /* Return the address at which the useful part of the native stack ends, or 0.
   * Memory beyond it, such as a VM stack, is not copied, and native frames
   * beyond it do not count as missing. In the handler. May be NULL. */
  uint64_t (*stack_end)(void *data, const spanprof_capture *capture);

  /* Change frames so that frames which look the same to a reader are equal, for
   * example by replacing offsets by lines. Called before frames are compared
   * and named. May be NULL. */
  void (*normalize)(void *data, spanprof_frame *frames, size_t count);

  /* Name a frame: fill `out`. Its strings must stay valid until the next call.
   * If the runtime has want_names, only spanprof_runtime_resolve() calls
   * `resolve`. If `resolve` fails, the frame is named "(unknown)" and counted.
   */
  spanprof_status (*resolve)(void *data, const spanprof_frame *frame,
                             spanprof_name *out);

  /* Called when frames wait for names. The callback arranges that
   * spanprof_runtime_resolve() is called soon, on a thread on which `resolve`
   * may run (for example, with the VM's lock). It must not wait. NULL:
   * `resolve` may run on any thread. */
  void (*want_names)(void *data);

  /* The code of the eval loop. Frames of the language replace its native
   * frames. Copied. */
  const spanprof_range *eval_ranges;
  size_t eval_range_count;

  /* Native code that the eval loop uses for calls (dispatch, arguments). Its
   * frames are omitted. Copied. */
  const spanprof_range *call_ranges;
  size_t call_range_count;
} spanprof_runtime;

/* Register the runtime of the process, before or after the session's start.
 * SPANPROF_ERR_STATE: a runtime is registered. SPANPROF_ERR_ARGUMENT: there is
 * no name, there is a `walk` but no `resolve`, there are too many ranges, or
 * struct_size is unknown. */
SPANPROF_API spanprof_status
spanprof_runtime_register(const spanprof_runtime *runtime);

/* Remove the runtime. Waits for running callbacks, at most a second. No
 * callback starts after the call. */
SPANPROF_API void spanprof_runtime_unregister(void);

/* Add a range to the eval loop of the registered runtime, such as the memory of
 * a JIT compiler. Copied. A known range is not added again.
 * SPANPROF_ERR_ARGUMENT: the range is empty. SPANPROF_ERR_STATE: no runtime is
 * registered. SPANPROF_ERR_LIMIT: the runtime has
 * SPANPROF_RUNTIME_RANGES_MAX. */
SPANPROF_API spanprof_status
spanprof_runtime_eval_add(const spanprof_range *range);

/* Name at most `max` waiting frames by `resolve`, on the calling thread. Return
 * the number of frames that still wait. */
SPANPROF_API size_t spanprof_runtime_resolve(size_t max);

/* Set the thread_data of the calling thread's captures, and register the
 * thread. The pointer is stored even if the registration fails, except with
 * SPANPROF_ERR_NOMEM. Statuses: as spanprof_thread_register(). */
SPANPROF_API spanprof_status spanprof_thread_set_data(void *thread_data);

/* Store the labels and the span of the calling thread's current work, for a
 * language whose contexts only `read_context` can read. At the end of the
 * thread, its language context no longer exists. The CPU time that is recorded
 * then has the stored labels and span, or those of the thread's last sample if
 * that sample is later than the call. Does nothing on a thread that is not
 * registered. Signal-safe. */
SPANPROF_API void
spanprof_thread_set_context(const spanprof_context_view *view);

#ifdef __cplusplus
}
#endif

#endif
