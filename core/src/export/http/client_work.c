#include "client_work.h"

#include <pthread.h>

#include "util/system/fork_hooks.h"

/* An old libcurl may wait in there for a name lookup: a fork waits no longer
 * than this. */
#define WORK_FORK_WAIT_NS (500 * SP_NS_PER_MS)

/* Process-wide, as the TLS library is. Readers: the threads at work. Writer:
 * the fork. */
static struct {
  pthread_rwlock_t lock;
  bool waited; /* the fork has the lock */
} client_work = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static void work_before_fork(void) {
  client_work.waited = sp_fork_write_lock(&client_work.lock, WORK_FORK_WAIT_NS);
}

static void work_after_fork_parent(void) {
  if (client_work.waited)
    pthread_rwlock_unlock(&client_work.lock);
}

/* Threads of the parent may have waited for the lock. The child does not have
 * them, so its lock is initialized again. The unlock is for ThreadSanitizer,
 * which does not follow a second initialization. */
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
