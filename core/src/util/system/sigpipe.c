#include "sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void sp_sigpipe_block(sp_sigpipe *hold) {
  sigset_t broken, pending;

  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &hold->before);
  sigemptyset(&pending);
  sigpending(&pending);
  hold->pending = sigismember(&pending, SIGPIPE) == 1;
}

void sp_sigpipe_restore(const sp_sigpipe *hold) {
  const struct timespec now = {0, 0};
  sigset_t broken;

  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  while (!hold->pending && sigtimedwait(&broken, NULL, &now) < 0 &&
         errno == EINTR)
    ;
  pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
}
