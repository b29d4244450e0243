/* For extenders: how the virtual machine of an interpreted language gives its
 * frames, their names, and the labels and span of its own contexts to the
 * profiler. A process has one at most. core/docs/write-a-binding.md shows how;
 * programs that only want to be profiled need spanprof.h alone.
 *
 * Reading order: what callbacks are given, the runtime, its registration, its
 * threads. The rules at the top of spanprof.h hold here too. */
#ifndef SPANPROF_RUNTIME_H
#define SPANPROF_RUNTIME_H

#include "spanprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A frame of an interpreted language, innermost first: identities, never
 * names. `code` and `offset` mean what the runtime wants; frames equal in both
 * are one location. */
typedef struct spanprof_frame {
  uint64_t code;
  uint32_t offset;
  uint32_t flags; /* SPANPROF_FRAME_*, the other bits are the runtime's */
} spanprof_frame;

/* The outermost frame of one run of the eval loop: the native frame of the eval
 * function stands for the frames up to and including this one. */
#define SPANPROF_FRAME_ENTRY 1u

/* On the innermost frame: it says all of what runs (the VM's collector, say),
 * and the native frames further in, up to the eval loop, are left out. */
#define SPANPROF_FRAME_LEAF 2u

/* What a walker is called with, valid during the call. */
typedef struct spanprof_capture {
  size_t struct_size;
  const void *ucontext; /* ucontext_t of the interrupted thread */
  uint64_t pc;
  uint64_t sp;
  void *thread_data;  /* of spanprof_thread_set_data(), or NULL */
  uint64_t stack_end; /* memory from sp up to here can be read; 0: unknown */
} spanprof_capture;

/* Labels and span read from the language's own context. */
typedef struct spanprof_context_view {
  size_t struct_size;
  spanprof_label_set labels;
  spanprof_span span; /* of spanprof_span_carried() */
  spanprof_mark mark; /* the recording's that the context belongs to */
} spanprof_context_view;

/* The name of a frame; text is copied during spanprof_name_set(). */
typedef struct spanprof_name {
  size_t struct_size;
  const char *function; /* NULL: unknown */
  size_t function_bytes;
  const char *file;
  size_t file_bytes;
  int64_t line;       /* of the offset, to INT32_MAX; else 0: unknown */
  int64_t start_line; /* of the function; 0: unknown */
} spanprof_name;

/* A range of native code, [start, end). */
typedef struct spanprof_range {
  uint64_t start;
  uint64_t end;
} spanprof_range;

/* Of each kind; an interpreter with a function for each of its instructions, in
 * a hot and a cold part, has 500. */
#define SPANPROF_RUNTIME_RANGES_MAX 1024

/* What a language extension registers. */
typedef struct spanprof_runtime {
  size_t struct_size; /* sizeof(spanprof_runtime) */
  const char *name;   /* "ruby": label process.runtime.name */
  const char *version;
  void *data; /* handed to every callback */

  /* Write at most `max` frames, innermost first, and return how many; *cut is
   * set to 1 where the walk stopped early. Called in the signal handler, on
   * the interrupted thread, with every signal handler rule in force: no
   * allocation, lock, system call that waits, errno change, or read of memory
   * that may be unmapped. May be NULL. */
  size_t (*walk)(void *data, const spanprof_capture *capture,
                 spanprof_frame *frames, size_t max, int *cut);

  /* Fill `out` and return 1, or return 0 to use the calling thread's context.
   * Same rules as walk. May be NULL. */
  int (*read_context)(void *data, const spanprof_capture *capture,
                      spanprof_context_view *out);

  /* Name a frame that was walked: fill `out`, whose texts must stay valid
   * until the next call. Called from the library's own thread, or, with
   * want_names, from within spanprof_runtime_resolve(). May not call spanprof.
   * SPANPROF_ERR_*: the frame is called "(unknown)" and counted. */
  spanprof_status (*resolve)(void *data, const spanprof_frame *frame,
                             spanprof_name *out);

  /* Frames wait for names: have spanprof_runtime_resolve() called soon where
   * `resolve` may run (with the VM's lock, say). Called from the library's own
   * thread; must not wait. NULL: `resolve` may run on any thread. */
  void (*want_names)(void *data);

  /* The eval loop's code: native frames inside are replaced by language
   * frames. Copied. */
  const spanprof_range *eval_ranges;
  size_t eval_range_count;

  /* Native code by which the eval loop calls functions (sends, argument
   * handling): left out of stacks. Copied. */
  const spanprof_range *call_ranges;
  size_t call_range_count;

  /* Where the interrupted native stack ends as far as it is worth copying, or
   * 0: what lies beyond, a VM stack of the runtime, say, is not copied, and
   * native frames beyond do not count as missing. Same rules as walk. May be
   * NULL. */
  uint64_t (*stack_end)(void *data, const spanprof_capture *capture);

  /* Change frames that were walked so that those become equal which will look
   * the same: offsets into lines, say. Called from the library's own thread
   * before frames are compared and named; may not call spanprof. May be
   * NULL. */
  void (*settle)(void *data, spanprof_frame *frames, size_t count);
} spanprof_runtime;

/* Register the process's language runtime, before or after the session starts.
 * SPANPROF_ERR_STATE: there is one already. SPANPROF_ERR_ARGUMENT. */
SPANPROF_API spanprof_status
spanprof_runtime_register(const spanprof_runtime *runtime);

/* Take a range for code of the registered runtime's eval loop from now on: what
 * a compiler at run time was given room for. Copied; idempotent. Any thread.
 * SPANPROF_ERR_STATE: none is registered. SPANPROF_ERR_LIMIT: it has as many as
 * it may. SPANPROF_ERR_ARGUMENT: the range is empty. */
SPANPROF_API spanprof_status
spanprof_runtime_eval_add(const spanprof_range *range);

/* Remove it. No callback starts after the call; those that run are waited for,
 * at most a second. */
SPANPROF_API void spanprof_runtime_unregister(void);

/* Name at most `max` of the waiting frames by calling `resolve` from here;
 * returns how many still wait. */
SPANPROF_API size_t spanprof_runtime_resolve(size_t max);

/* Hand a pointer to the runtime's callbacks whenever they run on the calling
 * thread (see spanprof_capture). Registers the thread; what stands in the way
 * of that, other than SPANPROF_ERR_NOMEM, does not lose the pointer. */
SPANPROF_API spanprof_status spanprof_thread_set_data(void *thread_data);

/* Store the labels and the span of the calling thread's current work, for a
 * language whose contexts only `read_context` can read. CPU time that is booked
 * at the thread's end, when the language's context is gone, then has these
 * labels and this span, or those of the thread's last sample if that is later.
 * Signal-safe; does nothing on a thread that is not registered. */
SPANPROF_API void spanprof_thread_works_for(const spanprof_context_view *view);

#ifdef __cplusplus
}
#endif

#endif
