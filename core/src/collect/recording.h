/* A recording, shared by the thread that requested it and the collector.
 *
 * Protocol: a thread creates the recording, passes it to the collector, and
 * later requests its end and waits for it. Meanwhile the collector's thread
 * fills the recording. Both have a reference, and the last one to release it
 * frees it. */
#ifndef SP_RECORDING_H
#define SP_RECORDING_H

#include <pthread.h>

#include "collect/samples/sample_sink.h"
#include "util/system/clock.h"

/* Maximum number of recordings at the same time. */
#define SP_RECORDINGS_MAX 1024

#define SP_RECORDING_NOTE_BYTES 160

typedef struct sp_recording_config {
  sp_selection selection;
  uint64_t duration_ns; /* UINT64_MAX: no limit */
  uint32_t rate_hz;     /* requested; 0: any */
  bool native_frames;   /* requested */
} sp_recording_config;

typedef struct sp_recording {
  /* Fixed once the collector has the recording. */
  const sp_mem *mem;
  sp_recording_config config;
  /* Used by the collector's thread. `next` is also used by the thread that
   * passes the recording to the collector. */
  struct sp_recording *next;
  sp_sink *sink;
  bool last_round;   /* its end was requested before the ring was emptied */
  uint64_t begun_ns; /* monotonic */
  uint64_t unix_ns;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned references;
  bool begun;
  bool ending;
  bool done;
  spanprof_status st; /* used only by the collector's thread until `done` */
  sp_encoded profile;
  char note[SP_RECORDING_NOTE_BYTES]; /* for spanprof_profile */
} sp_recording;

/* Create a recording. The caller gets a reference. SPANPROF_ERR_NOMEM. */
spanprof_status sp_recording_new(sp_recording **out, const sp_mem *mem,
                                 const sp_recording_config *config);

void sp_recording_retain(sp_recording *recording);
void sp_recording_release(sp_recording *recording);

/* Record that it has begun: from now on it receives samples. */
void sp_recording_begun(sp_recording *recording);

/* Request its end. */
void sp_recording_stop(sp_recording *recording);

/* Was its end requested, or is the collector's reference the only one? */
bool sp_recording_is_ending(sp_recording *recording);
bool sp_recording_is_referenced(sp_recording *recording);

/* Mark the recording as done. Takes ownership of the bytes of `profile`, or
 * stores the failure `st`. */
void sp_recording_end(sp_recording *recording, spanprof_status st,
                      sp_encoded *profile);

/* Wait until the recording has begun or is done, at most until `until_ns`. */
void sp_recording_wait_begun(sp_recording *recording, const sp_clock *clock,
                             uint64_t until_ns);

/* Wait until the recording is done, at most until `until_ns`. The caller then
 * owns the bytes. Returns SPANPROF_ERR_TIMEOUT, or the status of the recording.
 */
spanprof_status sp_recording_wait(sp_recording *recording,
                                  const sp_clock *clock, uint64_t until_ns,
                                  sp_encoded *out);

#endif
