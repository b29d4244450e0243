/* One window's samples, added up by (stack, labels, span), and their encoding
 * as pprof. Used by the collector's thread alone.
 *
 * Frames, functions and texts stay interned from window to window, so that a
 * steady program costs a lookup a sample. */
#ifndef SP_PROFILE_H
#define SP_PROFILE_H

#include "settings/option_list.h"
#include "settings/settings.h"
#include "util/mem.h"

/* The metric that a server keeps our profiles under; type and unit of their
 * values, and of the period. */
#define SP_PROFILE_METRIC "process_cpu"
#define SP_PROFILE_TYPE   "cpu"
#define SP_PROFILE_UNIT   "nanoseconds"

typedef enum sp_frame_kind {
  SP_FRAME_NATIVE,  /* code: ELF virtual address in `module` */
  SP_FRAME_MODULE,  /* code of `module` that has no names */
  SP_FRAME_RUNTIME, /* code and position: spanprof_frame's code, offset */
  SP_FRAME_NOTE,    /* code: an sp_note */
} sp_frame_kind;

/* Artificial frames for CPU time without a complete stack. Each names the
 * reason: the stack is truncated or missing; the thread blocked our signal, had
 * no timer yet, ended before its next tick, or could get no timer; the window
 * reached a cap. The page uses the same names (core/page/src/model). */
#define SP_NOTES(X)                 \
  X(TRUNCATED, "[truncated]")       \
  X(BLOCKED, "[signal blocked]")    \
  X(THREAD_START, "[thread start]") \
  X(THREAD_END, "[thread end]")     \
  X(NO_TIMER, "[no timer]")         \
  X(OVERFLOW, "[too many stacks]")

typedef enum sp_note {
#define SP_NOTE_ENUM(name, text) SP_NOTE_##name,
  SP_NOTES(SP_NOTE_ENUM)
#undef SP_NOTE_ENUM
} sp_note;

/* Is this the name of one of these frames? */
bool sp_note_is(const char *name, size_t bytes);

typedef struct sp_frame {
  uint32_t kind;   /* sp_frame_kind */
  uint32_t module; /* 0 unless native or of a module */
  uint64_t code;
  uint64_t position;
} sp_frame;

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
  uint64_t code_start; /* of a native frame's function; 0: unknown */
  bool mapped;         /* `mapping` is filled in */
  sp_mapping_view mapping;
} sp_frame_name;

/* Names native and runtime frames; called while encoding, once per frame that
 * has no name yet. Texts are cleaned and copied before the next call; of those
 * longer than 1,000 bytes the tail.
 *
 * SPANPROF_ERR_STATE: not known yet, ask again for the next profile. Any other
 * failure, or no function: "(unknown)" for a runtime's frame, counted in
 * frames_unnamed here; "module+0xaddress" for a mapped native one, of its
 * function's start or else its own; else "[unknown]". A mapping whose path is
 * that of /proc/self/exe is written as the main binary. */
typedef struct sp_namer {
  spanprof_status (*name)(void *data, const sp_frame *frame,
                          sp_frame_name *out);
  void *data;
} sp_namer;

typedef struct sp_profile sp_profile;

/* `namer` and `settings` outlive the profile. */
spanprof_status sp_profile_new(sp_profile **out, const sp_mem *mem,
                               const sp_namer *namer,
                               const sp_settings *settings);
void sp_profile_free(sp_profile *profile); /* NULL is fine */

/* The window's caps: distinct (stack, labels, span), and, by the settings,
 * memory in all tables together, looked at before each new stack. */
#define SP_PROFILE_ENTRIES_MAX 200000

/* Frames of one stack, and a note: the outer ones past the settings' depth
 * become SP_NOTE_TRUNCATED. */
#define SP_PROFILE_DEPTH_MAX (SP_OPTION_DEPTH_MAX + 1)

/* Add `samples` samples of `ticks` ticks and `cpu_ns` (> 0) in sum; frames
 * innermost first, at least one. Past the window's caps the stack becomes
 * SP_NOTE_OVERFLOW, labels and span are kept, so that sums stay right; past
 * twice the entries these go too.
 * SPANPROF_ERR_NOMEM: nothing was added. SPANPROF_ERR_ARGUMENT: the same; no
 * frame or no time. */
spanprof_status sp_profile_add(sp_profile *profile, const sp_frame *frames,
                               size_t frame_count, spanprof_label_set labels,
                               spanprof_span span, uint64_t samples,
                               uint64_t ticks, uint64_t cpu_ns);

/* The memory of all tables. */
size_t sp_profile_bytes(const sp_profile *profile);

/* Act from now on as if the memory cap were reached (true) or not (false). */
void sp_profile_full_set(sp_profile *profile, bool full);

/* Samples added since the last reset. */
uint64_t sp_profile_samples(const sp_profile *profile);

/* What a log may say about the window. */
typedef struct sp_profile_notes {
  uint64_t overflow_samples; /* whose stack became SP_NOTE_OVERFLOW */
  uint64_t labels_capped;    /* left out: a series takes 30 names */
} sp_profile_notes;

sp_profile_notes sp_profile_notes_get(const sp_profile *profile);

/* Between the times of a window's parts. Whoever keeps to times that are alike
 * modulo the step has all others free. */
#define SP_PROFILE_TIME_STEP_NS 64

/* The window a profile covers. */
typedef struct sp_window {
  uint64_t time_ns; /* Unix time of the start */
  uint64_t duration_ns;
  uint64_t period_ns;          /* the sampling interval */
  const char *const *comments; /* pprof comments */
  size_t comment_count;
  bool whole; /* one part whatever a server takes, also without a sample; not
               * counted as a window's profile */
} sp_window;

/* One encoded part, gzip-compressed. */
typedef struct sp_encoded {
  void *bytes;
  size_t size;
  const sp_mem *mem; /* owns bytes: the profile's */
  uint64_t time_ns;
  uint64_t duration_ns;
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
  uint32_t text_count; /* of its string table; 0: not known */
} sp_encoded;

/* Free the bytes. */
void sp_encoded_dispose(sp_encoded *encoded);

/* Takes over one part. */
typedef void (*sp_encoded_fn)(void *data, sp_encoded *part);

/* Encode the window's samples in parts within the server's limits
 * (pprof_limits.h), each with a time_ns of its own (a step after the one
 * before), handing each to `emit` as soon as it is whole and counting it in
 * profiles_made. SPANPROF_ERR_NOMEM: *lost_samples and *lost_ticks stood in no
 * part that was handed on; the caller counts them. An empty profile gives no
 * part. The samples stay until the reset. Comments: the first 32. */
spanprof_status sp_profile_encode(sp_profile *profile, const sp_window *window,
                                  sp_encoded_fn emit, void *data,
                                  uint64_t *lost_samples, uint64_t *lost_ticks);

/* Forget the samples, keep what is interned (within a cap of memory). */
void sp_profile_reset(sp_profile *profile);

#endif
