/* Adds samples to profiles: it unwinds the native stack of a sample, merges it
 * with the language frames, and adds the merged stack to the sinks
 * (sample_sink.h). All functions are called on the collector thread. */
#ifndef SP_AGGREGATOR_H
#define SP_AGGREGATOR_H

#include "sample_sink.h"

typedef struct sp_aggregator sp_aggregator;

spanprof_status sp_aggregator_new(sp_aggregator **out, const sp_mem *mem,
                                  const sp_settings *settings,
                                  uint64_t interval_ns);
void sp_aggregator_free(sp_aggregator *aggregator); /* may be NULL */

/* Update the list of loaded modules. */
void sp_aggregator_refresh_modules(sp_aggregator *aggregator);

/* Detect modules that have replaced other modules at the same address. Called
 * before samples are added. */
void sp_aggregator_scan_modules(sp_aggregator *aggregator);

/* Add a sample to each sink that selects it. If it cannot be added to the
 * window's sink, the sample is counted as dropped. */
void sp_aggregator_add(sp_aggregator *aggregator, const sp_sample *sample);

/* Set the names of language frames that have arrived, and request the missing
 * names. Returns the number of frames that still wait for a name. */
size_t sp_aggregator_name_frames(sp_aggregator *aggregator);

/* Discard the samples of the window, and release their spans. */
void sp_aggregator_reset(sp_aggregator *aggregator);

/* Open a sink in addition to the window's sink. The new sink receives samples
 * from now on. The caller closes the sink and then frees it. Returns
 * SPANPROF_OK or SPANPROF_ERR_NOMEM. */
spanprof_status sp_aggregator_open_sink(sp_aggregator *aggregator,
                                        const sp_selection *selection,
                                        sp_sink **out);
void sp_aggregator_close_sink(sp_aggregator *aggregator, sp_sink *sink);

/* Close and free all sinks except the window's. */
void sp_aggregator_close_sinks(sp_aggregator *aggregator);

/* Return the window's profile. */
sp_profile *sp_aggregator_profile(sp_aggregator *aggregator);

#endif
