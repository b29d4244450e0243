/* The recordings (recording.h) that the collector fills in addition to its
 * windows. */
#ifndef SP_COLLECTOR_RECORDINGS_H
#define SP_COLLECTOR_RECORDINGS_H

#include "collector.h"
#include "recording.h"

/* Begin to fill `recording`. A recording with a mark gets all samples with that
 * mark. A recording without a mark gets the samples that it selects and that
 * are taken after sp_recording_wait_begun(). A recording is done soon after
 * sp_recording_stop(), after its duration, or when the collector stops. The
 * collector keeps a reference until the recording is done. Returns
 * SPANPROF_ERR_LIMIT if SP_RECORDINGS_MAX recordings are running. */
spanprof_status sp_collector_record(sp_collector *collector,
                                    sp_recording *recording);

/* Wake the collector thread after sp_recording_stop(), so that it ends the
 * recording. */
void sp_collector_recording_stopped(sp_collector *collector);

/* The functions below run on the collector thread, which holds `work_lock`.
 *
 * Begin the new recordings that have a mark. */
void sp_collector_recordings_admit(sp_collector *collector);

/* The first function is called before the ring is drained, the second one after
 * it. New recordings with a mark begin in the first function, because samples
 * in the ring may have the mark. New recordings without a mark begin in the
 * second function. If the end of a recording was requested before the first
 * function, the recording has received all of its samples when the second
 * function ends it. The second function returns the earliest time at which a
 * recording's duration ends, by the collector's clock, or UINT64_MAX if no
 * recording has a duration. */
void sp_collector_recordings_before(sp_collector *collector);
uint64_t sp_collector_recordings_after(sp_collector *collector);

/* End all recordings. They keep their samples. */
void sp_collector_recordings_end(sp_collector *collector);

/* Called in a forked child: drop all recordings, because they belong to the
 * parent. */
void sp_collector_recordings_drop(sp_collector *collector);

#endif
