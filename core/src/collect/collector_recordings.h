/* The recordings that the collector fills in addition to its windows
 * (recording.h). */
#ifndef SP_COLLECTOR_RECORDINGS_H
#define SP_COLLECTOR_RECORDINGS_H

#include "collector.h"
#include "recording.h"

/* Begin to fill `recording`. A recording with a mark gets all samples with that
 * mark. Another recording gets the samples that it selects after
 * sp_recording_wait_begun(). A recording is done soon after
 * sp_recording_stop(), after its duration, or when the collector stops. The
 * collector keeps a reference until then. SPANPROF_ERR_LIMIT: SP_RECORDINGS_MAX
 * are running. */
spanprof_status sp_collector_record(sp_collector *collector,
                                    sp_recording *recording);

/* Wake the collector after sp_recording_stop(). */
void sp_collector_recording_stopped(sp_collector *collector);

/* The functions below run on the collector's thread, with `work_lock` held.
 *
 * Begin the new recordings that have a mark. */
void sp_collector_recordings_admit(sp_collector *collector);

/* Called before and after the ring is drained. New recordings with a mark begin
 * in the first function, because samples in the ring may have the mark. The
 * others begin in the second one. If the end of a recording was requested
 * before the first function, the recording has all of its samples in the second
 * one, which ends it. Returns the earliest time at which a recording's duration
 * ends, by the collector's clock, or UINT64_MAX if no recording has a duration.
 */
void sp_collector_recordings_before(sp_collector *collector);
uint64_t sp_collector_recordings_after(sp_collector *collector);

/* End all recordings; they keep their samples. */
void sp_collector_recordings_end(sp_collector *collector);

/* In a forked child: drop the recordings, which belong to the parent. */
void sp_collector_recordings_drop(sp_collector *collector);

#endif
