/* The state of a collector, shared by collector.c and collector_recordings.c.
 */
#ifndef SP_COLLECTOR_STATE_H
#define SP_COLLECTOR_STATE_H

#include <pthread.h>

#include "collect/samples/aggregator.h"
#include "collector.h"
#include "recording.h"
#include "sampler/capture.h"
#include "warnings.h"

struct sp_collector {
  /* Fixed after sp_collector_start(). */
  const sp_mem *mem;
  sp_collector_config config;
  sp_timer_base base;
  int signal_number;
  sp_capture *capture;
  sp_ring *ring; /* the ring of `capture` */
  pthread_t thread;
  bool running; /* the thread must be joined */

  /* Guarded by request_lock. */
  pthread_mutex_t request_lock;
  pthread_cond_t sealed; /* a window was emitted, or the collector thread ended
                          */
  uint64_t windows_requested;
  uint64_t windows_sealed;
  bool emitting; /* a call of emit is running */
  bool ended;    /* the collector thread no longer uses the collector */
  /* The recordings that the collector thread has not seen yet. */
  sp_recording *recordings_requested;
  size_t recording_count; /* length of `recordings_requested` and
                           * `recordings` */
  /* Written with `request_lock` held; read without a lock. */
  _Atomic uint64_t window_max_ns; /* maximum length of a window */
  _Atomic bool stopping;
  _Atomic bool abandoned; /* a stop timed out */

  /* Guarded by work_lock. */
  pthread_mutex_t work_lock;
  sp_aggregator *aggregator;
  sp_recording *recordings;
  spanprof_mark newest_mark; /* highest mark of a sample so far */
  /* The last fork did not interrupt the collector at work. */
  bool fork_between_steps;
  uint64_t window_unix_ns; /* start of the window */
  uint64_t window_ns;      /* start of the window, monotonic clock */
  /* Unix time of the last emitted part of a profile, or of the present window
   * if none of its parts is emitted yet. */
  uint64_t last_time_ns;
  /* Time of the next scan for threads; CLOCK_MONOTONIC, not config.clock. */
  uint64_t scan_due_ns;
  size_t threads; /* number of threads found by the last scan */
  uint64_t chores_due_ns;
  /* CPU time of the collector thread that is already counted. */
  uint64_t cpu_ns;
  sp_warnings warnings;
};

/* The functions below are called with `work_lock` held. */

/* Encode a profile with comments about the collector's counters, and `note`
 * ("": no note). `window` has the profile's times. Returns the status of
 * sp_profile_encode(). */
spanprof_status sp_collector_encode(sp_collector *collector,
                                    sp_profile *profile, sp_window *window,
                                    const char *note, sp_encoded_fn emit,
                                    void *data, uint64_t *lost_samples,
                                    uint64_t *lost_ticks);

/* Request the missing names of language frames, and wait for them for at most 2
 * s. `work_lock` is released during the wait. */
void sp_collector_wait_for_names(sp_collector *collector);

#endif
