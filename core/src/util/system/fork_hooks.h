/* The folders' fork handlers, called in one order for the whole library.
 * pthread_atfork(3) would call them in the order of registration. */
#ifndef SP_FORK_HOOKS_H
#define SP_FORK_HOOKS_H

#include <pthread.h>

#include "util/base.h"

/* The order in which the `before` hooks take their locks. The `parent` and
 * `child` hooks run in the reverse order. */
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

/* Call `hooks` around each fork from now on. Idempotent; any thread may call
 * it. */
void sp_fork_hooks_set(sp_fork_rank rank, const sp_fork_hooks *hooks);

/* Take a lock, but wait at most `wait_ns`, because another thread may hold it
 * for long. Returns false if the time passes. For `before` hooks and other
 * callers with a deadline. */
bool sp_fork_lock(pthread_mutex_t *lock, uint64_t wait_ns);
bool sp_fork_write_lock(pthread_rwlock_t *lock, uint64_t wait_ns);

#endif
