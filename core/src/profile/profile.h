/* The profile of one window: samples aggregated by (stack, labels, span), and
 * their encoding as pprof. Only the collector's thread uses it.
 *
 * Frames, functions and texts stay interned across windows, so a sample of a
 * known stack costs one lookup. */
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
void sp_profile_free(sp_profile *profile); /* may be NULL */

/* Maximum number of distinct (stack, labels, span) of a window. The memory of
 * all tables together has a maximum too, which is a setting; it is checked
 * before each new stack. */
#define SP_PROFILE_ENTRIES_MAX 200000

/* Maximum number of frames of a stack, including one artificial frame
 * (sp_note). Outer frames beyond the depth of the settings become
 * SP_NOTE_TRUNCATED. */
#define SP_PROFILE_DEPTH_MAX (SP_OPTION_DEPTH_MAX + 1)

/* Add `samples` samples with `ticks` ticks and `cpu_ns` (> 0) in total.
 * `frames` has at least one frame, innermost first. If a maximum of the window
 * is reached, the stack becomes SP_NOTE_OVERFLOW; labels and span are kept, so
 * their sums stay right. If the window has twice the maximum number of entries,
 * labels and span are dropped too. Nothing is added if it returns
 * SPANPROF_ERR_NOMEM, or SPANPROF_ERR_ARGUMENT (no frame or no time). */
spanprof_status sp_profile_add(sp_profile *profile, const sp_frame *frames,
                               size_t frame_count, spanprof_labels labels,
                               spanprof_span span, uint64_t samples,
                               uint64_t ticks, uint64_t cpu_ns);

/* The memory of all tables, in bytes. */
size_t sp_profile_bytes(const sp_profile *profile);

/* Set whether the maximum memory counts as reached. */
void sp_profile_full_set(sp_profile *profile, bool full);

/* The number of samples added since the last reset. */
uint64_t sp_profile_samples(const sp_profile *profile);

/* Counts of the window, for log messages. */
typedef struct sp_profile_notes {
  uint64_t overflow_samples; /* samples whose stack became SP_NOTE_OVERFLOW */
  /* Labels dropped because a series may have 30 names. */
  uint64_t labels_capped;
} sp_profile_notes;

sp_profile_notes sp_profile_notes_get(const sp_profile *profile);

/* The profile's frames. The caller may get and set their names. */
sp_frame_table *sp_profile_frames(sp_profile *profile);

/* Resolve the names of all frames, which sp_profile_encode() otherwise does. */
void sp_profile_name(sp_profile *profile);

/* Encode the window's samples in parts within the server's limits
 * (pprof_limits.h). Each part has its own time_ns, SP_PROFILE_TIME_STEP_NS
 * after that of the previous part. Each finished part is passed to `emit` and
 * counted in profiles_made. An empty profile has no part. At most 32 comments
 * are written. The samples stay until sp_profile_reset(). After
 * SPANPROF_ERR_NOMEM, *lost_samples and *lost_ticks are in no part; the caller
 * counts them as dropped. */
spanprof_status sp_profile_encode(sp_profile *profile, const sp_window *window,
                                  sp_encoded_fn emit, void *data,
                                  uint64_t *lost_samples, uint64_t *lost_ticks);

/* Remove the samples. Interned data stays, unless it uses more memory than
 * profile.c allows. */
void sp_profile_reset(sp_profile *profile);

#endif
