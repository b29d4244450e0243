/* Sampling as a whole: timers on, handlers at work, and the thread that turns
 * samples into profiles.
 *
 * Protocol: the collector's thread sleeps for 150 ms, or until a handler calls
 * it, then drains the ring, unwinds what it finds and adds it to the window's
 * profile; when the window ends it encodes the profile and hands the parts to
 * `emit`. `work_lock` is held while it works and given back while it sleeps, so
 * that a fork meets it between two pieces of work. `request_lock` guards what
 * others ask of it, and is never held for long: a flush and a stop have
 * deadlines, and work may not end. Only the collector's thread touches the
 * unwinder, the profile and the reading end of the ring. What may be lost is
 * counted where it happens: in the handler (capture.h) or here, when memory is
 * short. */
#ifndef SP_COLLECTOR_H
#define SP_COLLECTOR_H

#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_collector sp_collector;

typedef struct sp_collector_config {
  /* All outlive the collector. */
  const sp_settings *settings;
  const sp_clock *clock;
  sp_log *log;
  /* Called on the collector's thread. */
  sp_encoded_fn emit;
  void (*left)(void *emit_data); /* by a thread that a stop left behind */
  void *emit_data;
} sp_collector_config;

/* Probe the timer, install the handler, start the thread and the timers of all
 * threads. On failure nothing runs. */
spanprof_status sp_collector_start(sp_collector **out, const sp_mem *mem,
                                   const sp_collector_config *config);

/* The signal in use. */
int sp_collector_signal(const sp_collector *collector);

/* From the next flush on windows last no longer than that. */
void sp_collector_shorten_windows(sp_collector *collector, uint64_t window_ns);

/* End the window now; returns when its parts were emitted, at `until_ns` with
 * SPANPROF_ERR_TIMEOUT, or at a stop. */
spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns);

/* Take no more samples until sp_threads_resume(): returns when no handler is at
 * work, at most 100 ms later. Windows go on. */
void sp_collector_pause(sp_collector *collector);

/* Stop the timers, and have the thread emit what there is and end. Whoever
 * flushes returns. */
void sp_collector_halt(sp_collector *collector);

/* After that, with nobody flushing: free the collector once its thread ended.
 * SPANPROF_ERR_TIMEOUT: it did not by `until_ns` (at the earliest a second from
 * now): a callback of a runtime, or the disk, does not come back. Then it emits
 * nothing more and frees itself when it does; what is in its configuration is
 * its own until it calls `left`. */
spanprof_status sp_collector_stop(sp_collector *collector, uint64_t until_ns);

/* Fork. `before` waits for the collector's pause, at most 20 ms; the child goes
 * on with an empty window and a thread of its own, or, where that cannot be
 * had, unprofiled with a line in the log. */
void sp_collector_before_fork(sp_collector *collector);
void sp_collector_after_fork_parent(sp_collector *collector);
void sp_collector_after_fork_child(sp_collector *collector);

/* In place of that: this child goes on without one. What it has is left as it
 * is. */
void sp_collector_abandon(sp_collector *collector);

#endif
