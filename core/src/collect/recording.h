/* A recording, shared by the collector and the thread that begins the
 * recording.
 *
 * Protocol: a thread creates the recording and passes it to the collector. The
 * collector thread fills the recording, until a thread requests the recording's
 * end and waits for its profile. The creator and the collector each have a
 * reference. The last one that releases its reference frees the recording. */
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
  uint32_t rate_hz;     /* requested rate; 0: any rate */
  /* Requested spanprof_native_frames, or SPANPROF_UNSET. */
  int64_t native_frames;
} sp_recording_config;

typedef struct sp_recording {
  /* Fixed once the recording was passed to the collector. */
  const sp_mem *mem;
  sp_recording_config config;
  /* Used only by the collector thread, except `next`, which the thread that
   * passes the recording to the collector uses, too. */
  struct sp_recording *next;
  sp_sink *sink;
  /* Its end was requested before the present round, so all of its samples are
   * in the ring or in the sink. */
  bool last_round;
  uint64_t begun_ns; /* monotonic */
  uint64_t unix_ns;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned references;
  bool begun;
  bool ending;
  bool done;
  spanprof_status st; /* used only by the collector thread until `done` */
  sp_encoded profile;
  char note[SP_RECORDING_NOTE_BYTES]; /* `note` of the spanprof_profile */
} sp_recording;

/* Create a recording. The caller gets a reference. Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_recording_new(sp_recording **out, const sp_mem *mem,
                                 const sp_recording_config *config);

void sp_recording_retain(sp_recording *recording);
void sp_recording_release(sp_recording *recording);

/* Store that the recording has begun: from now on it receives samples. */
void sp_recording_begun(sp_recording *recording);

/* Request the end of the recording. */
void sp_recording_stop(sp_recording *recording);

/* Was the end of the recording requested, or is the collector's reference the
 * only one? */
bool sp_recording_is_ending(sp_recording *recording);
/* Does the creator still have its reference? */
bool sp_recording_is_referenced(sp_recording *recording);

/* Mark the recording as done. Takes ownership of the bytes of `profile`, or
 * stores the failure `st`. */
void sp_recording_end(sp_recording *recording, spanprof_status st,
                      sp_encoded *profile);

/* Wait until the recording has begun or is done, at most until `until_ns`. */
void sp_recording_wait_begun(sp_recording *recording, const sp_clock *clock,
                             uint64_t until_ns);

/* Wait until the recording is done, at most until `until_ns`. On success, the
 * caller owns the bytes of `out`. Returns the status of the recording, or
 * SPANPROF_ERR_TIMEOUT. */
spanprof_status sp_recording_wait(sp_recording *recording,
                                  const sp_clock *clock, uint64_t until_ns,
                                  sp_encoded *out);

#endif
