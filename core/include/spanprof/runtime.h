/* The interface for language bindings: the virtual machine of an interpreted
 * language provides frames, their names, and the labels and span of its own
 * contexts. A process has at most one runtime. core/docs/write-a-binding.md
 * explains the steps. A program that is only profiled needs spanprof.h alone.
 *
 * This file declares the data that callbacks receive, then the runtime with its
 * registration, and then functions that the threads of the language call. The
 * rules at the top of spanprof.h apply. */
#ifndef SPANPROF_RUNTIME_H
#define SPANPROF_RUNTIME_H

#include "spanprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A frame of the language, without its name. The runtime defines the meaning of
 * `code` and `offset`. Frames with equal `code` and `offset` are one location.
 */
typedef struct spanprof_frame {
  uint64_t code;
  uint32_t offset;
  uint32_t flags; /* SPANPROF_FRAME_*; the runtime may use other bits */
} spanprof_frame;

/* Flag of the outermost frame of one run of the eval loop (the VM's native
 * function that executes frames of the language). The frames up to and
 * including the flagged frame replace one native frame of the eval loop. */
#define SPANPROF_FRAME_ENTRY 1u

/* Flag of an innermost frame that stands for all native code that is running,
 * such as the VM's garbage collector. The native frames inside of the innermost
 * frame of the eval loop are omitted. */
#define SPANPROF_FRAME_LEAF 2u

/* The state of the interrupted thread, valid during the callback. */
typedef struct spanprof_capture {
  size_t struct_size;
  const void *ucontext; /* ucontext_t of the interrupted thread */
  uint64_t pc;
  uint64_t sp;
  uint64_t stack_end; /* end of the readable memory at `sp`; 0: unknown */
  void *thread_data;  /* from spanprof_thread_set_data(), or NULL */
} spanprof_capture;

/* The labels and the span of a context of the language, such as a fiber, and
 * its mark: the number by which a recording selects contexts. */
typedef struct spanprof_context_view {
  size_t struct_size;
  spanprof_labels labels;
  spanprof_span span; /* a result of spanprof_span_carried() */
  spanprof_mark mark; /* 0: the context has no mark */
} spanprof_context_view;

/* The name of a frame. */
typedef struct spanprof_name {
  size_t struct_size;
  const char *function; /* NULL: unknown */
  size_t function_bytes;
  const char *file;
  size_t file_bytes;
  int64_t line;       /* running line, at most INT32_MAX; 0: unknown */
  int64_t start_line; /* first line of the function; 0: unknown */
} spanprof_name;

/* A range of native code, [start, end). */
typedef struct spanprof_range {
  uint64_t start;
  uint64_t end;
} spanprof_range;

/* Maximum number of eval ranges. An interpreter that has a function for each
 * instruction, each with a hot and a cold part, needs 500. */
#define SPANPROF_RUNTIME_RANGES_MAX 1024

/* A language runtime.
 *
 * "Runs in the handler" means that the callback runs in the signal handler, on
 * the interrupted thread. Such a callback must not allocate, lock, make a
 * system call that waits, change errno, or read memory that may be unmapped.
 * The other callbacks run on the collector thread of the library, unless a
 * comment says otherwise, and must not call spanprof. */
typedef struct spanprof_runtime {
  size_t struct_size; /* sizeof(spanprof_runtime) */
  const char *name;   /* label process.runtime.name, such as "ruby" */
  const char *version;
  void *data; /* the first argument of every callback */

  /* Walk the language stack of the interrupted thread: write at most `max`
   * frames, innermost first, and return their number. Set *cut to 1 if the walk
   * stopped before the outermost frame. Runs in the handler. May be NULL. */
  size_t (*walk)(void *data, const spanprof_capture *capture,
                 spanprof_frame *frames, size_t max, int *cut);

  /* Write the language context of the interrupted thread to `out` and return 1,
   * or return 0 if the thread's spanprof_context applies. Runs in the handler.
   * May be NULL. */
  int (*read_context)(void *data, const spanprof_capture *capture,
                      spanprof_context_view *out);

  /* Return the address at which the useful part of the native stack ends, or 0
   * if it is unknown. Memory beyond this address, such as a VM stack, is not
   * copied, and native frames beyond it do not count as missing. Runs in the
   * handler. May be NULL. */
  uint64_t (*stack_end)(void *data, const spanprof_capture *capture);

  /* Change the frames so that those which look the same to a reader become
   * equal, for example by replacing offsets by lines. Called before frames are
   * compared and named. May be NULL. */
  void (*normalize)(void *data, spanprof_frame *frames, size_t count);

  /* Write the name of a frame to `out`. The strings must stay valid until the
   * next call of `resolve`. If the runtime has want_names, only
   * spanprof_runtime_resolve() calls `resolve`. If `resolve` fails, the frame
   * is named "(unknown)" and counted in frames_unnamed. */
  spanprof_status (*resolve)(void *data, const spanprof_frame *frame,
                             spanprof_name *out);

  /* Called when frames wait for names. want_names arranges that
   * spanprof_runtime_resolve() is called soon, on a thread on which `resolve`
   * may run (for example, a thread that holds the VM's lock). want_names must
   * not wait. NULL: `resolve` may run on any thread. */
  void (*want_names)(void *data);

  /* Address ranges of the eval loop's code, which are copied. In stacks, frames
   * of the language replace the native frames in these ranges. Stacks also omit
   * all other frames of the module that contains the eval loop, unless
   * native_frames is "all"; their time belongs to the frame of the language
   * that called them. */
  const spanprof_range *eval_ranges;
  size_t eval_range_count;

  /* Directory of extension modules that belong to the interpreter, such as
   * Python's lib-dynload. Stacks omit the frames of these modules, too, because
   * other builds of the interpreter have the same extensions linked into the
   * interpreter. An absolute path without a final slash, of at most 4,095
   * bytes, which is copied; NULL if there is no such directory. */
  const char *library_directory;

  /* Return the number of a C function of the language, such as a built-in
   * method. The native code of this function begins at `start`. Return 0 if no
   * such function begins there, or if this is not known. The core calls this
   * callback for functions of the interpreter, whose native frames it otherwise
   * removes. If the number is not 0, a frame with this number as `code` and
   * with `offset` 0 replaces the native frame, and `resolve` returns its name.
   * No frame of `walk` may have the same `code`. NULL: the language has no such
   * functions. */
  uint64_t (*native_function)(void *data, uint64_t start);

  /* Return a version number. It must change when native_function may return
   * other numbers than before. The core calls this callback several times a
   * second. Must not be NULL if native_function is set. */
  uint64_t (*native_functions_version)(void *data);
} spanprof_runtime;

/* Register the runtime of the process, before or after the session's start.
 * Returns SPANPROF_ERR_STATE if a runtime is registered. Returns
 * SPANPROF_ERR_ARGUMENT if there is no name, if there is a `walk` but no
 * `resolve`, a `native_function` but no `native_functions_version`, if there
 * are too many ranges, or if struct_size is unknown. */
SPANPROF_API spanprof_status
spanprof_runtime_register(const spanprof_runtime *runtime);

/* Remove the registered runtime. Waits for running callbacks, at most a second.
 * After the function has returned, no callback starts. */
SPANPROF_API void spanprof_runtime_unregister(void);

/* Add a range to the eval_ranges of the registered runtime, such as the memory
 * of a JIT compiler. The range is copied. If the runtime has this range, it is
 * not added again. Returns SPANPROF_ERR_ARGUMENT if the range is empty,
 * SPANPROF_ERR_STATE if no runtime is registered, and SPANPROF_ERR_LIMIT if the
 * runtime has SPANPROF_RUNTIME_RANGES_MAX ranges. */
SPANPROF_API spanprof_status
spanprof_runtime_eval_add(const spanprof_range *range);

/* Call the runtime's `resolve` on the calling thread for at most `max` frames
 * that wait for names. Return the number of frames that still wait. */
SPANPROF_API size_t spanprof_runtime_resolve(size_t max);

/* Set the thread_data that the captures of the calling thread contain, and
 * register the thread. Returns the status of spanprof_thread_register(). The
 * pointer is stored unless this status is SPANPROF_ERR_NOMEM. */
SPANPROF_API spanprof_status spanprof_thread_set_data(void *thread_data);

/* Store the labels, span and mark of the calling thread's current work, for a
 * language whose contexts only `read_context` can read. When a thread ends, its
 * last CPU time is recorded, but its language context no longer exists. This
 * CPU time therefore gets the labels, span and mark of the latest call of this
 * function, or those of the thread's last sample if that sample is later. Does
 * nothing on a thread that is not registered. Signal-safe. */
SPANPROF_API void
spanprof_thread_set_context(const spanprof_context_view *view);

#ifdef __cplusplus
}
#endif

#endif
