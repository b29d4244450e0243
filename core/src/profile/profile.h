/* The profile of one window: samples aggregated by (stack, labels, span), and
 * their encoding as pprof. Collector's thread only.
 *
 * Frames, functions and texts stay interned across windows, so that in a steady
 * program a sample costs one lookup. */
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

/* Caps of a window: the number of distinct (stack, labels, span), and the
 * memory of all tables together (a setting), which is checked before each new
 * stack. */
#define SP_PROFILE_ENTRIES_MAX 200000

/* Maximum number of frames of a stack, plus a note. Outer frames beyond the
 * depth of the settings become SP_NOTE_TRUNCATED. */
#define SP_PROFILE_DEPTH_MAX (SP_OPTION_DEPTH_MAX + 1)

/* Add `samples` samples with `ticks` ticks and `cpu_ns` (> 0) in total. Frames
 * are innermost first, at least one. Above the window's caps the stack becomes
 * SP_NOTE_OVERFLOW, but labels and span are kept, so that sums stay right;
 * above twice the number of entries they are dropped too. SPANPROF_ERR_NOMEM:
 * nothing was added. SPANPROF_ERR_ARGUMENT: no frame or no time; nothing was
 * added. */
spanprof_status sp_profile_add(sp_profile *profile, const sp_frame *frames,
                               size_t frame_count, spanprof_labels labels,
                               spanprof_span span, uint64_t samples,
                               uint64_t ticks, uint64_t cpu_ns);

/* The memory of all tables, in bytes. */
size_t sp_profile_bytes(const sp_profile *profile);

/* Set whether the memory cap counts as reached. */
void sp_profile_full_set(sp_profile *profile, bool full);

/* The number of samples added since the last reset. */
uint64_t sp_profile_samples(const sp_profile *profile);

/* Counts of the window, for log messages. */
typedef struct sp_profile_notes {
  uint64_t overflow_samples; /* whose stack became SP_NOTE_OVERFLOW */
  uint64_t labels_capped;    /* dropped, as a series may have 30 names */
} sp_profile_notes;

sp_profile_notes sp_profile_notes_get(const sp_profile *profile);

/* The profile's frames. The caller may get and set their names. */
sp_frame_table *sp_profile_frames(sp_profile *profile);

/* Resolve the frames' names, before sp_profile_encode() would. */
void sp_profile_name(sp_profile *profile);

/* Encode the window's samples in parts within the server's limits
 * (pprof_limits.h). Each part has its own time_ns, one step after the previous
 * one's. Each finished part is passed to `emit` and counted in profiles_made.
 * An empty profile gives no part. At most 32 comments are written. The samples
 * stay until the reset. SPANPROF_ERR_NOMEM: *lost_samples and *lost_ticks are
 * in no part; the caller counts them as dropped. */
spanprof_status sp_profile_encode(sp_profile *profile, const sp_window *window,
                                  sp_encoded_fn emit, void *data,
                                  uint64_t *lost_samples, uint64_t *lost_ticks);

/* Remove the samples. Interned data stays, up to a cap of memory. */
void sp_profile_reset(sp_profile *profile);

#endif
