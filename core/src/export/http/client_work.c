#include "client_work.h"

#include <pthread.h>

#include "util/system/fork_hooks.h"

/* Maximum time for which a fork waits. A call of an old libcurl may include a
 * name lookup, which can take longer. */
#define WORK_FORK_WAIT_NS (500 * SP_NS_PER_MS)

/* Process-wide, because the TLS library is. Threads inside libcurl hold the
 * lock for reading, and a forking thread holds it for writing. */
static struct {
  pthread_rwlock_t lock;
  bool waited; /* the forking thread got the lock in time */
} client_work = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static void work_before_fork(void) {
  client_work.waited = sp_fork_write_lock(&client_work.lock, WORK_FORK_WAIT_NS);
}

static void work_after_fork_parent(void) {
  if (client_work.waited)
    pthread_rwlock_unlock(&client_work.lock);
}

/* Threads of the parent may have been waiting for the lock. They do not exist
 * in the child, so the lock is initialized again. It is unlocked first because
 * ThreadSanitizer does not notice the second initialization. */
static void work_after_fork_child(void) {
  work_after_fork_parent();
  pthread_rwlock_init(&client_work.lock, NULL);
}

void sp_client_work_begin(void) {
  static const sp_fork_hooks hooks = {
      .before = work_before_fork,
      .parent = work_after_fork_parent,
      .child = work_after_fork_child,
  };

  sp_fork_hooks_set(SP_FORK_CLIENT_WORK, &hooks);
  pthread_rwlock_rdlock(&client_work.lock);
}

void sp_client_work_end(void) {
  pthread_rwlock_unlock(&client_work.lock);
}
