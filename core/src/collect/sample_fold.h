/* From a sample of the ring to an entry of the profile: unwind, merge, add. On
 * the collector's thread alone. */
#ifndef SP_SAMPLE_FOLD_H
#define SP_SAMPLE_FOLD_H

#include "../profile/profile.h"
#include "../sampler/capture.h"
#include "span_set.h"

typedef struct sp_fold sp_fold;

spanprof_status sp_fold_new(sp_fold **out, const sp_mem *mem,
                            const sp_settings *settings, uint64_t interval_ns);
void sp_fold_free(sp_fold *fold); /* NULL is fine */

/* Take notice of modules that came and went. */
void sp_fold_refresh(sp_fold *fold);

/* Tell modules apart that took others' places, before samples are added. */
void sp_fold_scan(sp_fold *fold);

/* Add one sample; what cannot be added is counted as dropped. */
void sp_fold_sample(sp_fold *fold, const sp_sample *sample);

/* Forget the window's samples, and let their spans go. */
void sp_fold_reset(sp_fold *fold);

/* A profile beside the window's, which gets every sample from now on, and holds
 * their spans, until it is closed. SPANPROF_ERR_NOMEM. */
typedef struct sp_fold_side {
  struct sp_fold_side *next;
  sp_profile *profile;
  sp_span_set spans;
  spanprof_status st; /* a sample could not be added */
} sp_fold_side;

spanprof_status sp_fold_side_open(sp_fold *fold, sp_fold_side **out);
void sp_fold_side_close(sp_fold *fold, sp_fold_side *side);
void sp_fold_sides_close(sp_fold *fold);

/* The window's profile. */
sp_profile *sp_fold_profile(sp_fold *fold);

#endif
