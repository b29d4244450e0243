/* What each room does around a fork, in one order for the whole library:
 * pthread_atfork(3) knows only the order of registration. */
#ifndef SP_FORK_HOOKS_H
#define SP_FORK_HOOKS_H

#include <pthread.h>

#include "util/base.h"

/* Locks are taken from the first to the last and given back the other way
 * round. */
typedef enum sp_fork_rank {
  SP_FORK_SESSION,
  SP_FORK_SPAN,
  SP_FORK_LABEL,
  SP_FORK_LOADER,
  SP_FORK_CLIENT_WORK,
  SP_FORK_RANK_COUNT
} sp_fork_rank;

typedef struct sp_fork_hooks {
  void (*before)(void);
  void (*parent)(void);
  void (*child)(void);
} sp_fork_hooks;

/* Have `hooks` called from now on. Idempotent; any thread. */
void sp_fork_hooks_set(sp_fork_rank rank, const sp_fork_hooks *hooks);

/* For a `before`, and whoever else has a deadline: take a lock that another
 * thread may hold for long, but within `wait_ns`. False: it was not to be had.
 */
bool sp_fork_lock(pthread_mutex_t *lock, uint64_t wait_ns);
bool sp_fork_write_lock(pthread_rwlock_t *lock, uint64_t wait_ns);

#endif
