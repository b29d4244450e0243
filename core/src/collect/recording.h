/* A recording, as the thread that asked for it and the collector share it.
 *
 * Protocol: a thread makes it, hands it to the collector, and later asks for
 * its end and waits for that; the collector's thread fills it meanwhile. Both
 * hold it, and the last one that releases it frees it. */
#ifndef SP_RECORDING_H
#define SP_RECORDING_H

#include <pthread.h>

#include "../util/clock.h"
#include "sample_sink.h"

/* Under way at once. */
#define SP_RECORDINGS_MAX 1024

#define SP_RECORDING_NOTE_BYTES 160

typedef struct sp_recording_config {
  sp_wanted wanted;
  uint64_t duration_ns; /* at most; UINT64_MAX: without a bound */
  uint32_t rate_hz;     /* that was asked for; 0: any */
  bool native_frames;   /* were asked for */
} sp_recording_config;

typedef struct sp_recording {
  /* Fixed once the collector has it. */
  const sp_mem *mem;
  sp_recording_config config;
  /* The collector's thread alone; `next` also the thread that hands it over. */
  struct sp_recording *next;
  sp_sink *sink;
  bool last_round;   /* its end was asked for before the ring was emptied */
  uint64_t begun_ns; /* monotonic */
  uint64_t unix_ns;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned holders;
  bool begun;
  bool ending;
  bool done;
  spanprof_status st; /* until it is done, the collector's thread alone */
  sp_encoded profile;
  char note[SP_RECORDING_NOTE_BYTES]; /* of spanprof_profile_view */
} sp_recording;

/* Held by the caller. SPANPROF_ERR_NOMEM. */
spanprof_status sp_recording_new(sp_recording **out, const sp_mem *mem,
                                 const sp_recording_config *config);

void sp_recording_hold(sp_recording *recording);
void sp_recording_release(sp_recording *recording);

/* It is under way: the samples from now on are in it. */
void sp_recording_begun(sp_recording *recording);

/* Ask for its end. */
void sp_recording_stop(sp_recording *recording);

/* Was its end asked for, or does nobody but the collector hold it? */
bool sp_recording_is_ending(sp_recording *recording);
bool sp_recording_is_held(sp_recording *recording);

/* It is done: takes over the bytes of `profile`, or keeps the failure `st`. */
void sp_recording_end(sp_recording *recording, spanprof_status st,
                      sp_encoded *profile);

/* Wait until it is under way or done, at most until `until_ns`. */
void sp_recording_wait_begun(sp_recording *recording, const sp_clock *clock,
                             uint64_t until_ns);

/* Wait until it is done, at most until `until_ns`. The bytes are the caller's
 * then. SPANPROF_ERR_TIMEOUT, or the status it ended with. */
spanprof_status sp_recording_wait(sp_recording *recording,
                                  const sp_clock *clock, uint64_t until_ns,
                                  sp_encoded *out);

#endif
