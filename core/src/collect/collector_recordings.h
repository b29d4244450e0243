/* The recordings that the collector fills beside its windows: recording.h. */
#ifndef SP_COLLECTOR_RECORDINGS_H
#define SP_COLLECTOR_RECORDINGS_H

#include "collector.h"
#include "recording.h"

/* Have the samples that `recording` wants go into it, too. One that is found by
 * a mark has all samples with that mark; the others have the samples after
 * sp_recording_wait_begun(). It is done soon after sp_recording_stop(), after
 * its duration, and at a stop of the collector, which holds it meanwhile.
 * SPANPROF_ERR_LIMIT: SP_RECORDINGS_MAX are under way. */
spanprof_status sp_collector_record(sp_collector *collector,
                                    sp_recording *recording);

/* Wake the collector after sp_recording_stop(). */
void sp_collector_recording_stopped(sp_collector *collector);

/* All of these with `work_lock` held, by the collector's thread.
 *
 * Begin the new recordings that are found by a mark. */
void sp_collector_recordings_admit(sp_collector *collector);

/* Around each emptying of the ring: samples in it may belong to a new mark, and
 * a recording whose end was asked for before has all of its samples after it.
 * Returns when the next recording's duration is over, by the collector's clock;
 * UINT64_MAX where no recording has one. */
void sp_collector_recordings_before(sp_collector *collector);
uint64_t sp_collector_recordings_after(sp_collector *collector);

/* End all recordings, with the samples that they have. */
void sp_collector_recordings_end(sp_collector *collector);

/* In a forked child: the recordings are the parent's. */
void sp_collector_recordings_forget(sp_collector *collector);

#endif
