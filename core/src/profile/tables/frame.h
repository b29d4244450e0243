/* A frame of a stack, and its name. */
#ifndef SP_FRAME_H
#define SP_FRAME_H

#include <spanprof/spanprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sp_frame_kind {
  SP_FRAME_NATIVE, /* `code`: ELF virtual address in `module` */
  SP_FRAME_MODULE, /* any code of a `module` without symbols */
  /* `code`, `position`: code and offset of a spanprof_frame. */
  SP_FRAME_RUNTIME,
  /* A C function of the language. `code`: the number that the runtime's
   * native_function returned */
  SP_FRAME_FUNCTION,
  SP_FRAME_NOTE, /* `code`: an sp_note */
} sp_frame_kind;

/* Artificial frames for CPU time without a complete stack. Their names are the
 * reasons, in this order: the stack is truncated or missing; the thread blocked
 * the profiler's signal; the thread had no timer yet; its timer was deleted
 * before the signal was delivered; no timer was available; the window reached a
 * limit; the interpreter ran outside of every function of the language, for
 * example while it ended a thread. The page uses the same names
 * (core/page/src/flame/stacks/notes.ts). */
#define SP_NOTES(X)                 \
  X(TRUNCATED, "[truncated]")       \
  X(BLOCKED, "[signal blocked]")    \
  X(THREAD_START, "[thread start]") \
  X(THREAD_END, "[thread end]")     \
  X(NO_TIMER, "[no timer]")         \
  X(OVERFLOW, "[too many stacks]")  \
  X(INTERPRETER, "[interpreter]")

typedef enum sp_note {
#define SP_NOTE_ENUM(name, text) SP_NOTE_##name,
  SP_NOTES(SP_NOTE_ENUM)
#undef SP_NOTE_ENUM
} sp_note;

/* Is this the name of a note that replaces a missing stack? SP_NOTE_INTERPRETER
 * replaces none: that stack is known. */
bool sp_note_is(const char *name, size_t bytes);

typedef struct sp_frame {
  uint32_t kind;   /* sp_frame_kind */
  uint32_t module; /* 0 unless `kind` is NATIVE or MODULE */
  uint64_t code;
  uint64_t position;
} sp_frame;

/* Does the runtime name the frame? */
static inline bool sp_frame_of_runtime(const sp_frame *frame) {
  return frame->kind == SP_FRAME_RUNTIME || frame->kind == SP_FRAME_FUNCTION;
}

static inline bool sp_frame_equal(const sp_frame *a, const sp_frame *b) {
  return a->code == b->code && a->position == b->position &&
         a->module == b->module && a->kind == b->kind;
}

typedef struct sp_mapping_view {
  const char *path;
  const char *build_id;
  uint64_t start;
  uint64_t limit;
  uint64_t file_offset;
} sp_mapping_view;

typedef struct sp_frame_name {
  const char *function; /* NULL: unknown */
  size_t function_bytes;
  const char *file; /* NULL: unknown */
  size_t file_bytes;
  int64_t line;
  int64_t start_line;
  uint64_t code_start; /* start of the function of a native frame; 0: unknown */
  bool mapped;         /* `mapping` is set */
  sp_mapping_view mapping;
} sp_frame_name;

/* Resolves names of native and runtime frames. It is called during encoding,
 * once per frame without a name. The caller cleans and copies the returned
 * texts before the next call, and keeps only the end of a text longer than
 * 1,000 bytes.
 *
 * If it returns SPANPROF_ERR_STATE, the name is not known yet, and the next
 * profile asks again. If it fails otherwise or returns no function, the frame
 * is named "(unknown)" for a runtime's frame, which is counted in
 * frames_unnamed; "module+0xaddress" for a native frame with a mapping, where
 * the address is the start of its function or, if that is unknown, its own
 * address; otherwise "[unknown]". A mapping whose path is that of
 * /proc/self/exe is written as the main binary. */
typedef struct sp_namer {
  spanprof_status (*name)(void *data, const sp_frame *frame,
                          sp_frame_name *out);
  void *data;
} sp_namer;

#endif
