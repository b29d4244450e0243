/* One window's samples, added up by (stack, labels, span), and their encoding
 * as pprof. Used by the collector's thread alone.
 *
 * Frames, functions and texts stay interned from window to window, so that a
 * steady program costs a lookup a sample. */
#ifndef SP_PROFILE_H
#define SP_PROFILE_H

#include "../util/mem.h"
#include "../util/settings.h"

typedef enum sp_frame_kind {
  SP_FRAME_NATIVE,  /* code: ELF virtual address in `module` */
  SP_FRAME_RUNTIME, /* code and position: spanprof_frame's code, offset */
  SP_FRAME_NOTE,    /* code: an sp_note */
} sp_frame_kind;

/* Frames of ours, for what has no stack. */
typedef enum sp_note {
  SP_NOTE_TRUNCATED,  /* "[truncated]": the outer end of a cut stack */
  SP_NOTE_THREAD_END, /* "[thread end]": ticks booked at a thread's end */
  SP_NOTE_OVERFLOW,   /* "[too many stacks]": the window's caps were reached */
} sp_note;

typedef struct sp_frame {
  uint32_t kind;   /* sp_frame_kind */
  uint32_t module; /* 0 unless native */
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
  bool mapped; /* `mapping` is filled in */
  sp_mapping_view mapping;
} sp_frame_name;

/* Names native and runtime frames; called while encoding, once per frame that
 * has no name yet. Texts are copied before the next call.
 * SPANPROF_ERR_STATE: not known yet, ask again for the next profile. */
typedef struct sp_namer {
  spanprof_status (*name)(void *data, const sp_frame *frame,
                          sp_frame_name *out);
  void *data;
} sp_namer;

typedef struct sp_profile sp_profile;

spanprof_status sp_profile_new(sp_profile **out, const sp_mem *mem,
                               const sp_namer *namer,
                               const sp_settings *settings);
void sp_profile_free(sp_profile *profile); /* NULL is fine */

/* Add `samples` samples of `ticks` ticks and `cpu_ns` (> 0) in sum; frames
 * innermost first, at least one. Past the window's caps the stack becomes
 * SP_NOTE_OVERFLOW, labels and span are kept, so that sums stay right.
 * SPANPROF_ERR_NOMEM: nothing was added. */
spanprof_status sp_profile_add(sp_profile *profile, const sp_frame *frames,
                               size_t frame_count, spanprof_label_set labels,
                               spanprof_span span, uint64_t samples,
                               uint64_t ticks, uint64_t cpu_ns);

/* Samples added since the last reset. */
uint64_t sp_profile_samples(const sp_profile *profile);

/* The window a profile covers. */
typedef struct sp_window {
  uint64_t time_ns; /* Unix time of the start */
  uint64_t duration_ns;
  uint64_t period_ns;          /* the sampling interval */
  const char *const *comments; /* pprof comments */
  size_t comment_count;
} sp_window;

/* One encoded part, gzip-compressed. */
typedef struct sp_encoded {
  void *bytes; /* of sp_mem_default or the profile's mem; see owner */
  size_t size;
  const sp_mem *mem; /* owns bytes */
  uint64_t time_ns;
  uint64_t duration_ns;
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
} sp_encoded;

/* Free the bytes. */
void sp_encoded_dispose(sp_encoded *encoded);

/* Takes over one part. */
typedef void (*sp_encoded_fn)(void *data, sp_encoded *part);

/* Encode the window's samples in parts within the server's limits, each with
 * a time_ns of its own (time_ns, time_ns + 1, …), handing each to `emit` as
 * soon as it is whole. SPANPROF_ERR_NOMEM: *lost_samples and *lost_ticks stood
 * in no part that was handed on. An empty profile gives no part. */
spanprof_status sp_profile_encode(sp_profile *profile, const sp_window *window,
                                  sp_encoded_fn emit, void *data,
                                  uint64_t *lost_samples, uint64_t *lost_ticks);

/* Forget the samples, keep what is interned (within a cap of memory). */
void sp_profile_reset(sp_profile *profile);

#endif
