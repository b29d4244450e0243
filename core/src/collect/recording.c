#include "recording.h"

spanprof_status sp_recording_new(sp_recording **out, const sp_mem *mem,
                                 const sp_recording_config *config) {
  sp_recording *recording = sp_mem_zero(mem, sizeof *recording);

  *out = recording;
  if (!recording)
    return SPANPROF_ERR_NOMEM;
  recording->mem = mem;
  recording->config = *config;
  recording->references = 1;
  pthread_mutex_init(&recording->lock, NULL);
  sp_condition_init(&recording->changed);
  return SPANPROF_OK;
}

void sp_recording_retain(sp_recording *recording) {
  pthread_mutex_lock(&recording->lock);
  recording->references++;
  pthread_mutex_unlock(&recording->lock);
}

void sp_recording_release(sp_recording *recording) {
  bool last;

  pthread_mutex_lock(&recording->lock);
  last = --recording->references == 0;
  pthread_mutex_unlock(&recording->lock);
  if (!last)
    return;
  sp_encoded_dispose(&recording->profile);
  pthread_mutex_destroy(&recording->lock);
  pthread_cond_destroy(&recording->changed);
  sp_mem_free(recording->mem, recording);
}

static void recording_set(sp_recording *recording, bool *state) {
  pthread_mutex_lock(&recording->lock);
  *state = true;
  pthread_cond_broadcast(&recording->changed);
  pthread_mutex_unlock(&recording->lock);
}

void sp_recording_begun(sp_recording *recording) {
  recording_set(recording, &recording->begun);
}

void sp_recording_stop(sp_recording *recording) {
  recording_set(recording, &recording->ending);
}

bool sp_recording_is_ending(sp_recording *recording) {
  bool ending;

  pthread_mutex_lock(&recording->lock);
  ending = recording->ending || recording->references == 1;
  pthread_mutex_unlock(&recording->lock);
  return ending;
}

bool sp_recording_is_referenced(sp_recording *recording) {
  bool held;

  pthread_mutex_lock(&recording->lock);
  held = recording->references > 1;
  pthread_mutex_unlock(&recording->lock);
  return held;
}

void sp_recording_end(sp_recording *recording, spanprof_status st,
                      sp_encoded *profile) {
  pthread_mutex_lock(&recording->lock);
  recording->done = true;
  recording->st = st;
  recording->profile = *profile;
  *profile = (sp_encoded){0};
  pthread_cond_broadcast(&recording->changed);
  pthread_mutex_unlock(&recording->lock);
}

/* Wait until *state is true or the recording is done, at most until `until_ns`.
 * The caller holds the lock. */
static void recording_wait_for(sp_recording *recording, const bool *state,
                               const sp_clock *clock, uint64_t until_ns) {
  while (!*state && !recording->done && sp_clock_monotonic_ns(clock) < until_ns)
    sp_clock_wait(clock, &recording->changed, &recording->lock, until_ns);
}

void sp_recording_wait_begun(sp_recording *recording, const sp_clock *clock,
                             uint64_t until_ns) {
  pthread_mutex_lock(&recording->lock);
  recording_wait_for(recording, &recording->begun, clock, until_ns);
  pthread_mutex_unlock(&recording->lock);
}

spanprof_status sp_recording_wait(sp_recording *recording,
                                  const sp_clock *clock, uint64_t until_ns,
                                  sp_encoded *out) {
  spanprof_status st;

  *out = (sp_encoded){0};
  pthread_mutex_lock(&recording->lock);
  recording_wait_for(recording, &recording->done, clock, until_ns);
  st = recording->done ? recording->st : SPANPROF_ERR_TIMEOUT;
  if (!st) {
    *out = recording->profile;
    recording->profile = (sp_encoded){0};
  }
  pthread_mutex_unlock(&recording->lock);
  return st;
}
