#include "loader.h"

#include <pthread.h>

#include "fork_hooks.h"

/* A fork waits at most this long for the lock. If a constructor of a library
 * forks, the thread that loads the library holds the lock until the constructor
 * returns. */
#define LOADER_FORK_WAIT_NS (500 * SP_NS_PER_MS)

/* Process-wide, because the loader is process-wide. */
static struct {
  pthread_mutex_t lock;
  bool waited; /* the forking thread holds the lock */
} loader = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void loader_before_fork(void) {
  loader.waited = sp_fork_lock(&loader.lock, LOADER_FORK_WAIT_NS);
}

static void loader_after_fork_parent(void) {
  if (loader.waited)
    pthread_mutex_unlock(&loader.lock);
}

static void loader_after_fork_child(void) {
  pthread_mutex_init(&loader.lock, NULL);
}

void sp_loader_enter(void) {
  static const sp_fork_hooks hooks = {
      .before = loader_before_fork,
      .parent = loader_after_fork_parent,
      .child = loader_after_fork_child,
  };

  sp_fork_hooks_set(SP_FORK_LOADER, &hooks);
  pthread_mutex_lock(&loader.lock);
}

void sp_loader_leave(void) {
  pthread_mutex_unlock(&loader.lock);
}
