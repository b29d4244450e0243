/* From a sample of the ring to an entry of the profile: unwind, merge, add. On
 * the collector's thread alone. */
#ifndef SP_SAMPLE_FOLD_H
#define SP_SAMPLE_FOLD_H

#include "sample_sink.h"

typedef struct sp_fold sp_fold;

spanprof_status sp_fold_new(sp_fold **out, const sp_mem *mem,
                            const sp_settings *settings, uint64_t interval_ns);
void sp_fold_free(sp_fold *fold); /* NULL is fine */

/* Take notice of modules that came and went. */
void sp_fold_refresh(sp_fold *fold);

/* Tell modules apart that took others' places, before samples are added. */
void sp_fold_scan(sp_fold *fold);

/* Add one sample to each sink that selects it. A sample that cannot be added to
 * the window's sink is counted as dropped. */
void sp_fold_sample(sp_fold *fold, const sp_sample *sample);

/* Request and set names of language frames; returns how many frames wait for
 * one. */
size_t sp_fold_name_frames(sp_fold *fold);

/* Forget the window's samples, and let their spans go. */
void sp_fold_reset(sp_fold *fold);

/* Open another sink than the window's, which receives samples from now on. The
 * caller frees it after closing it. SPANPROF_ERR_NOMEM. */
spanprof_status sp_fold_open(sp_fold *fold, const sp_wanted *wanted,
                             sp_sink **out);
void sp_fold_close(sp_fold *fold, sp_sink *sink);

/* Close and free all sinks except the window's. */
void sp_fold_close_all(sp_fold *fold);

/* The window's profile. */
sp_profile *sp_fold_profile(sp_fold *fold);

#endif
