/* The collector: it starts the timers and handlers, and its thread turns
 * samples into profiles.
 *
 * Protocol: the collector's thread sleeps for 150 ms, or until a handler wakes
 * it. Then it drains the ring, unwinds the samples and adds them to the
 * window's profile. At the end of the window it encodes the profile and passes
 * the parts to `emit`. The thread holds `work_lock` while it works and releases
 * it while it sleeps, so that a fork happens between two pieces of work.
 * `request_lock` guards the requests of other threads. It is held only briefly:
 * a flush and a stop have deadlines, and the work may take longer. Only the
 * collector's thread uses the unwinder, the profile and the reading end of the
 * ring. Lost samples are counted where they are lost: in the handler
 * (capture.h), or here if memory is short. */
#ifndef SP_COLLECTOR_H
#define SP_COLLECTOR_H

#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_collector sp_collector;

typedef struct sp_collector_config {
  /* All must outlive the collector. */
  const sp_settings *settings;
  const sp_clock *clock;
  sp_log *log;
  /* Called on the collector's thread. */
  sp_encoded_fn emit;
  /* Called on the collector's thread when it finishes, if a stop did not wait
   * for it. */
  void (*on_abandoned)(void *emit_data);
  void *emit_data;
} sp_collector_config;

/* Probe the timer, install the handler, and start the thread and the timers of
 * all threads. If the function fails, nothing runs. */
spanprof_status sp_collector_start(sp_collector **out, const sp_mem *mem,
                                   const sp_collector_config *config);

/* Return the number of the signal in use. */
int sp_collector_signal(const sp_collector *collector);

/* Limit the length of windows to `window_ns` from the next flush on. */
void sp_collector_shorten_windows(sp_collector *collector, uint64_t window_ns);

/* End the window now, and wait until its parts are emitted. Returns early at a
 * stop, or at `until_ns` with SPANPROF_ERR_TIMEOUT. */
spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns);

/* Take no more samples until sp_threads_resume(). Returns when no handler runs,
 * after at most 100 ms. Windows continue. */
void sp_collector_pause(sp_collector *collector);

/* Stop the timers, and have the thread emit the remaining samples and finish.
 * Running flushes return. */
void sp_collector_halt(sp_collector *collector);

/* Wait for the thread and free the collector. Call sp_collector_halt() first;
 * no flush may be running.
 *
 * SPANPROF_ERR_TIMEOUT: the thread did not finish by `until_ns` (at the
 * earliest a second from now), because a callback of a runtime or the disk does
 * not return. Then the thread emits nothing more. It frees the collector when
 * it finishes, and calls `on_abandoned`; until then it may use everything in
 * its configuration. */
spanprof_status sp_collector_stop(sp_collector *collector, uint64_t until_ns);

/* Around a fork. `before` waits at most 20 ms until the collector is between
 * two pieces of work. The child continues with an empty window and a thread of
 * its own. If the thread cannot be started, the child is not profiled, which is
 * logged. */
void sp_collector_before_fork(sp_collector *collector);
void sp_collector_after_fork_parent(sp_collector *collector);
void sp_collector_after_fork_child(sp_collector *collector);

/* In a forked child, instead of sp_collector_after_fork_child(): continue
 * without the collector. Its memory is not touched. */
void sp_collector_abandon(sp_collector *collector);

#endif
