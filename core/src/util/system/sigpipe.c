#include "sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void sp_sigpipe_block(sp_sigpipe *state) {
  sigset_t broken, pending;

  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &state->before);
  sigemptyset(&pending);
  sigpending(&pending);
  state->pending = sigismember(&pending, SIGPIPE) == 1;
}

void sp_sigpipe_restore(const sp_sigpipe *state) {
  const struct timespec now = {0, 0};
  sigset_t broken;

  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  while (!state->pending && sigtimedwait(&broken, NULL, &now) < 0 &&
         errno == EINTR)
    ;
  pthread_sigmask(SIG_SETMASK, &state->before, NULL);
}
