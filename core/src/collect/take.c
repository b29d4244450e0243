#include "take.h"

spanprof_status sp_take_new(sp_take **out, const sp_mem *mem,
                            uint64_t duration_ns) {
  sp_take *take = sp_mem_zero(mem, sizeof *take);

  *out = take;
  if (!take)
    return SPANPROF_ERR_NOMEM;
  take->mem = mem;
  take->duration_ns = duration_ns;
  take->holders = 1;
  pthread_mutex_init(&take->lock, NULL);
  sp_condition_init(&take->changed);
  return SPANPROF_OK;
}

void sp_take_hold(sp_take *take) {
  pthread_mutex_lock(&take->lock);
  take->holders++;
  pthread_mutex_unlock(&take->lock);
}

void sp_take_release(sp_take *take) {
  bool last;

  pthread_mutex_lock(&take->lock);
  last = --take->holders == 0;
  pthread_mutex_unlock(&take->lock);
  if (!last)
    return;
  sp_encoded_dispose(&take->profile);
  pthread_mutex_destroy(&take->lock);
  pthread_cond_destroy(&take->changed);
  sp_mem_free(take->mem, take);
}

bool sp_take_is_held(sp_take *take) {
  bool held;

  pthread_mutex_lock(&take->lock);
  held = take->holders > 1;
  pthread_mutex_unlock(&take->lock);
  return held;
}

void sp_take_begin(sp_take *take) {
  pthread_mutex_lock(&take->lock);
  take->begun = true;
  pthread_cond_broadcast(&take->changed);
  pthread_mutex_unlock(&take->lock);
}

void sp_take_end(sp_take *take, spanprof_status st, sp_encoded *profile) {
  pthread_mutex_lock(&take->lock);
  take->done = true;
  take->st = st;
  if (profile) {
    take->profile = *profile;
    *profile = (sp_encoded){0};
  }
  pthread_cond_broadcast(&take->changed);
  pthread_mutex_unlock(&take->lock);
}

void sp_take_wait_begun(sp_take *take, const sp_clock *clock,
                        uint64_t until_ns) {
  pthread_mutex_lock(&take->lock);
  while (!take->begun && !take->done && sp_clock_monotonic_ns(clock) < until_ns)
    sp_clock_wait(clock, &take->changed, &take->lock, until_ns);
  pthread_mutex_unlock(&take->lock);
}

spanprof_status sp_take_wait(sp_take *take, const sp_clock *clock,
                             uint64_t until_ns, sp_encoded *out) {
  spanprof_status st;

  *out = (sp_encoded){0};
  pthread_mutex_lock(&take->lock);
  while (!take->done && sp_clock_monotonic_ns(clock) < until_ns)
    sp_clock_wait(clock, &take->changed, &take->lock, until_ns);
  st = take->done ? take->st : SPANPROF_ERR_TIMEOUT;
  if (!st) {
    *out = take->profile;
    take->profile = (sp_encoded){0};
  }
  pthread_mutex_unlock(&take->lock);
  return st;
}
