#include "rb_sigprof.h"

#include <signal.h>

static sigset_t set_of_sigprof(void) {
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  return set;
}

bool rb_sp_sigprof_block(void) {
  const sigset_t set = set_of_sigprof();
  sigset_t before;

  return pthread_sigmask(SIG_BLOCK, &set, &before) == 0 &&
         !sigismember(&before, SIGPROF);
}

void rb_sp_sigprof_unblock(bool blocked) {
  const sigset_t set = set_of_sigprof();

  if (blocked)
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
