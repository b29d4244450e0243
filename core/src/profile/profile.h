/* One window's samples, added up by (stack, labels, span), and their encoding
 * as pprof. Used by the collector's thread alone.
 *
 * Frames, functions and texts stay interned from window to window, so that a
 * steady program costs a lookup a sample. */
#ifndef SP_PROFILE_H
#define SP_PROFILE_H

#include "profile/pprof/window.h"
#include "profile/tables/frame_table.h"
#include "settings/option_list.h"
#include "settings/settings.h"
#include "util/memory/mem.h"

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
                               size_t frame_count, spanprof_labels labels,
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

/* The frames of the profile, whose names the caller gets and sets. */
sp_frame_table *sp_profile_frames(sp_profile *profile);

/* Name its frames before sp_profile_encode() does. */
void sp_profile_name(sp_profile *profile);

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
