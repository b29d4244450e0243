#include "fork_hooks.h"

#include <pthread.h>
#include <time.h>

/* Process-wide, because the handlers of pthread_atfork() are process-wide. */
static struct {
  pthread_once_t once;
  _Atomic(const sp_fork_hooks *) of[SP_FORK_RANK_COUNT];
  /* The hooks whose `before` was called, so that the same hooks' `parent` or
   * `child` is called. */
  const sp_fork_hooks *entered[SP_FORK_RANK_COUNT];
} fork_state = {.once = PTHREAD_ONCE_INIT};

static void fork_before(void) {
  int i;

  for (i = 0; i < SP_FORK_RANK_COUNT; i++) {
    fork_state.entered[i] = atomic_load(&fork_state.of[i]);
    if (fork_state.entered[i])
      fork_state.entered[i]->before();
  }
}

static void fork_parent(void) {
  int i;

  for (i = SP_FORK_RANK_COUNT - 1; i >= 0; i--)
    if (fork_state.entered[i])
      fork_state.entered[i]->parent();
}

static void fork_child(void) {
  int i;

  for (i = SP_FORK_RANK_COUNT - 1; i >= 0; i--)
    if (fork_state.entered[i])
      fork_state.entered[i]->child();
}

static void fork_register(void) {
  pthread_atfork(fork_before, fork_parent, fork_child);
}

static struct timespec fork_until(uint64_t wait_ns) {
  struct timespec until;
  uint64_t ns;

  clock_gettime(CLOCK_REALTIME, &until);
  ns = (uint64_t)until.tv_nsec + wait_ns;
  until.tv_sec += (time_t)(ns / SP_NS_PER_S);
  until.tv_nsec = (long)(ns % SP_NS_PER_S);
  return until;
}

bool sp_fork_lock(pthread_mutex_t *lock, uint64_t wait_ns) {
  const struct timespec until = fork_until(wait_ns);

  return pthread_mutex_timedlock(lock, &until) == 0;
}

bool sp_fork_write_lock(pthread_rwlock_t *lock, uint64_t wait_ns) {
  const struct timespec until = fork_until(wait_ns);

  return pthread_rwlock_timedwrlock(lock, &until) == 0;
}

void sp_fork_hooks_set(sp_fork_rank rank, const sp_fork_hooks *hooks) {
  atomic_store(&fork_state.of[rank], hooks);
  pthread_once(&fork_state.once, fork_register);
}
