/* The collector: it starts the profiling timers, installs the signal handler,
 * and has a thread that turns samples into profiles.
 *
 * Protocol: the collector thread sleeps for 150 ms, or until a signal handler
 * wakes it. Then it drains the ring, unwinds the samples and adds them to the
 * profile of the present window. At the end of the window it encodes the
 * profile, in several parts if it is large, and passes each part to `emit`. The
 * collector thread holds `work_lock` while it works and releases it while it
 * sleeps, so that a fork happens between two pieces of work. `request_lock`
 * guards the requests of other threads. It is held only briefly, because a
 * flush and a stop have deadlines, and a piece of work may take longer. Only
 * the collector thread uses the unwinder, the profile and the reading end of
 * the ring. Lost samples are counted where they are lost: in the signal handler
 * (capture.h), or in the collector if memory is short. */
#ifndef SP_COLLECTOR_H
#define SP_COLLECTOR_H

#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_collector sp_collector;

typedef struct sp_collector_config {
  /* These three objects must outlive the collector. */
  const sp_settings *settings;
  const sp_clock *clock;
  sp_log *log;
  /* Called on the collector thread with each part of a profile. The callback
   * owns the part. */
  sp_encoded_fn emit;
  /* Called on the collector thread when it finishes, if sp_collector_stop() did
   * not wait for it. */
  void (*on_abandoned)(void *emit_data);
  void *emit_data;
} sp_collector_config;

/* Test a timer, install the signal handler, and start the collector thread and
 * the timers of all threads. If the function fails, no thread and no timer
 * runs. */
spanprof_status sp_collector_start(sp_collector **out, const sp_mem *mem,
                                   const sp_collector_config *config);

/* Return the number of the profiling signal. */
int sp_collector_signal(const sp_collector *collector);

/* Limit the length of windows to `window_ns`. The collector thread applies the
 * limit within 150 ms. */
void sp_collector_shorten_windows(sp_collector *collector, uint64_t window_ns);

/* End the present window, and wait until all parts of its profile are emitted.
 * Returns early if the collector is stopped. Returns SPANPROF_ERR_TIMEOUT if
 * the wait is not over by `until_ns`. */
spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns);

/* Take no more samples until sp_threads_resume(). Returns when no signal
 * handler runs, after at most 100 ms. Windows still begin and end during the
 * pause. */
void sp_collector_pause(sp_collector *collector);

/* Stop the timers, and have the collector thread emit the remaining samples and
 * finish. Running flushes return. */
void sp_collector_halt(sp_collector *collector);

/* Wait for the collector thread and free the collector. Call
 * sp_collector_halt() first; no flush may be running.
 *
 * Returns SPANPROF_ERR_TIMEOUT if the collector thread did not finish by
 * `until_ns` or within a second, whichever is later, because a callback of a
 * runtime or the disk does not return. The thread then emits no more parts.
 * When it finishes, it frees the collector and calls `on_abandoned`; until then
 * it may use everything in its configuration. */
spanprof_status sp_collector_stop(sp_collector *collector, uint64_t until_ns);

/* Called before and after a fork. The first function waits at most 20 ms until
 * the collector is between two pieces of work. The child continues with an
 * empty window and a collector thread of its own. If this thread cannot be
 * started, the child is not profiled, and this is logged. */
void sp_collector_before_fork(sp_collector *collector);
void sp_collector_after_fork_parent(sp_collector *collector);
void sp_collector_after_fork_child(sp_collector *collector);

/* Called in a forked child instead of sp_collector_after_fork_child() if the
 * child continues without a collector. The collector's memory is not touched.
 */
void sp_collector_abandon(sp_collector *collector);

#endif
