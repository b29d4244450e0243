/* Sampling as a whole: timers on, handlers at work, and the thread that turns
 * samples into profiles.
 *
 * Protocol: the collector's thread sleeps for up to 150 ms at a time, then
 * drains the ring, unwinds what it finds and adds it to the window's profile;
 * when the window ends it encodes the profile and hands the parts to `emit`.
 * `work` is held while it works and given back while it sleeps, so that a fork
 * and a flush meet it between two pieces of work. Only the collector's thread
 * touches the unwinder, the profile and the reading end of the ring. What may
 * be lost is counted where it happens: in the handler (capture.h) or here, when
 * memory is short. */
#ifndef SP_COLLECTOR_H
#define SP_COLLECTOR_H

#include "../profile/profile.h"
#include "../util/clock.h"
#include "../util/log.h"
#include "../util/settings.h"

typedef struct sp_collector sp_collector;

typedef struct sp_collector_config {
  /* All outlive the collector. */
  const sp_settings *settings;
  const sp_clock *clock;
  sp_log *log;
  /* Called on the collector's thread, and in sp_collector_stop(). */
  sp_encoded_fn emit;
  void *emit_data;
} sp_collector_config;

/* Probe the timer, install the handler, start the thread and the timers of all
 * threads. On failure nothing runs. */
spanprof_status sp_collector_start(sp_collector **out, const sp_mem *mem,
                                   const sp_collector_config *config);

/* The signal in use. */
int sp_collector_signal(const sp_collector *collector);

/* End the window now; returns when its parts were emitted, or at `until_ns`
 * with SPANPROF_ERR_TIMEOUT. */
spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns);

/* Stop the timers and the thread, emit what there is, free the collector. */
void sp_collector_stop(sp_collector *collector);

/* Fork. `before` waits for the collector's pause, at most 20 ms; the child goes
 * on with an empty window and a thread of its own, or, where that cannot be
 * had, unprofiled with a line in the log. */
void sp_collector_before_fork(sp_collector *collector);
void sp_collector_after_fork_parent(sp_collector *collector);
void sp_collector_after_fork_child(sp_collector *collector);

#endif
