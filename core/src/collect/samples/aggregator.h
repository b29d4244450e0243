/* From a sample of the ring to an entry of the profile: unwind, merge, add. On
 * the collector's thread alone. */
#ifndef SP_AGGREGATOR_H
#define SP_AGGREGATOR_H

#include "sample_sink.h"

typedef struct sp_aggregator sp_aggregator;

spanprof_status sp_aggregator_new(sp_aggregator **out, const sp_mem *mem,
                                  const sp_settings *settings,
                                  uint64_t interval_ns);
void sp_aggregator_free(sp_aggregator *aggregator); /* NULL is fine */

/* Take notice of modules that came and went. */
void sp_aggregator_refresh_modules(sp_aggregator *aggregator);

/* Tell modules apart that took others' places, before samples are added. */
void sp_aggregator_scan_modules(sp_aggregator *aggregator);

/* Add one sample to each sink that selects it. A sample that cannot be added to
 * the window's sink is counted as dropped. */
void sp_aggregator_add(sp_aggregator *aggregator, const sp_sample *sample);

/* Request and set names of language frames; returns how many frames wait for
 * one. */
size_t sp_aggregator_name_frames(sp_aggregator *aggregator);

/* Forget the window's samples, and let their spans go. */
void sp_aggregator_reset(sp_aggregator *aggregator);

/* Open another sink than the window's, which receives samples from now on. The
 * caller frees it after closing it. SPANPROF_ERR_NOMEM. */
spanprof_status sp_aggregator_open_sink(sp_aggregator *aggregator,
                                        const sp_selection *selection,
                                        sp_sink **out);
void sp_aggregator_close_sink(sp_aggregator *aggregator, sp_sink *sink);

/* Close and free all sinks except the window's. */
void sp_aggregator_close_sinks(sp_aggregator *aggregator);

/* The window's profile. */
sp_profile *sp_aggregator_profile(sp_aggregator *aggregator);

#endif
