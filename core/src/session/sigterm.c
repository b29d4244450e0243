#include "sigterm.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sampler/handler/signal.h"
#include "util/system/own_thread.h"
#include "util/system/wake.h"

/* Process-wide, because the action of a signal is. */
static struct {
  /* Used by sigterm_handler(). */
  sp_wake wake;
  _Atomic bool received;
  _Atomic pid_t pid; /* process with a waiting thread; 0: none */
  _Atomic(void (*)(int)) wrapped;
  _Atomic bool forwarded; /* see sp_sigterm_was_forwarded() */
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  bool enabled;
  bool waiting; /* the thread that delivers the profiles runs */
  /* Set by the first sp_sigterm_begin(), and kept after sp_sigterm_end(). */
  _Atomic(sp_sigterm_fn) deliver;
  /* Signal mask of the forking thread. Guarded by the session's locks. */
  sigset_t before_fork;
} sigterm_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

SP_SIGNAL_SAFE static void sigterm_set(void (*handler)(int)) {
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
}

/* The handler sets `received` and then reads `pid` again. sp_sigterm_end() and
 * the waiting thread change `pid` first and then read `received`, so one of the
 * two sees the other's change. In a child that shares its parent's memory
 * (vfork(2)), `pid` is another process, so the handler does not change the
 * parent's state. */
SP_SIGNAL_SAFE static void sigterm_handler(int number) {
  const int error = errno;
  void (*wrapped)(int) = atomic_load(&sigterm_state.wrapped);
  bool waited_for = atomic_load(&sigterm_state.pid) == getpid();

  if (waited_for) {
    atomic_store(&sigterm_state.received, true);
    waited_for = atomic_load(&sigterm_state.pid) != 0;
  }
  if (!waited_for) {
    sigterm_set(SIG_DFL);
    kill(getpid(), number);
  } else {
    sp_wake_call(&sigterm_state.wake);
    if (wrapped) {
      atomic_store(&sigterm_state.forwarded, true);
      wrapped(number);
    }
  }
  errno = error;
}

static bool sigterm_is_ours(void) {
  struct sigaction now;

  return sigaction(SIGTERM, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
         now.sa_handler == sigterm_handler;
}

static void sigterm_restore(void) {
  if (sigterm_is_ours())
    sigterm_set(SIG_DFL);
}

static void sigterm_mask(int how, sigset_t *before) {
  sigset_t number;

  sigemptyset(&number);
  sigaddset(&number, SIGTERM);
  pthread_sigmask(how, &number, before);
}

bool sp_sigterm_was_forwarded(void) {
  const bool wraps = sigterm_is_ours() && atomic_load(&sigterm_state.wrapped);

  return atomic_exchange(&sigterm_state.forwarded, false) || !wraps;
}

bool sp_sigterm_deliver(void) {
  sp_sigterm_fn deliver = atomic_load(&sigterm_state.deliver);

  return !deliver || deliver();
}

/* Deliver the profiles, and send SIGTERM again. If the program has installed a
 * handler during the delivery, one of the program's threads receives the
 * signal. */
static void sigterm_act(void) {
  if (!sp_sigterm_deliver())
    return;
  sigterm_restore();
  if (sp_signal_default(SIGTERM))
    sigterm_mask(SIG_UNBLOCK, NULL);
  kill(getpid(), SIGTERM);
}

/* Was SIGTERM received? If not, *must_end is set to whether the waiting thread
 * must end. */
static bool waiter_check(bool *must_end) {
  bool received;

  pthread_mutex_lock(&sigterm_state.lock);
  received = atomic_exchange(&sigterm_state.received, false);
  *must_end = !received && !sigterm_state.enabled;
  if (*must_end)
    sigterm_state.waiting = false;
  pthread_mutex_unlock(&sigterm_state.lock);
  return received;
}

static void *waiter_run(void *nothing) {
  bool must_end;

  (void)nothing;
  do {
    sp_wake_clear(&sigterm_state.wake);
    if (waiter_check(&must_end))
      sigterm_act();
    else if (!must_end)
      sp_wake_wait(&sigterm_state.wake, UINT64_MAX);
  } while (!must_end);
  return NULL;
}

/* Start the waiting thread if it does not run. Returns whether it runs. The
 * caller holds the lock. */
static bool waiter_start(void) {
  pthread_t thread;

  if (!sigterm_state.waiting &&
      sp_own_thread_start(&thread, "spanprof-term", SP_OWN_STACK_SMALL,
                          waiter_run, NULL) == 0) {
    sp_own_thread_defer_join(thread);
    sigterm_state.waiting = true;
  }
  if (sigterm_state.waiting)
    atomic_store(&sigterm_state.pid, getpid());
  return sigterm_state.waiting;
}

bool sp_sigterm_arm(void) {
  bool armed;

  pthread_mutex_lock(&sigterm_state.lock);
  armed = sigterm_state.enabled &&
          (sigterm_is_ours() || sp_signal_default(SIGTERM)) && waiter_start();
  if (armed && !sigterm_is_ours()) {
    atomic_store(&sigterm_state.wrapped, NULL);
    sigterm_set(sigterm_handler);
  }
  pthread_mutex_unlock(&sigterm_state.lock);
  return armed;
}

void sp_sigterm_wrap_handler(void) {
  struct sigaction now;

  pthread_mutex_lock(&sigterm_state.lock);
  if (sigterm_state.waiting && sigaction(SIGTERM, NULL, &now) == 0 &&
      !(now.sa_flags & SA_SIGINFO) && now.sa_handler != sigterm_handler &&
      now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) {
    atomic_store(&sigterm_state.wrapped, now.sa_handler);
    sigterm_set(sigterm_handler);
  }
  pthread_mutex_unlock(&sigterm_state.lock);
}

void sp_sigterm_begin(sp_sigterm_fn deliver) {
  atomic_store(&sigterm_state.deliver, deliver);
  pthread_mutex_lock(&sigterm_state.lock);
  sigterm_state.enabled = true;
  pthread_mutex_unlock(&sigterm_state.lock);
  sp_sigterm_arm();
}

void sp_sigterm_end(void) {
  pthread_mutex_lock(&sigterm_state.lock);
  sigterm_restore();
  atomic_store(&sigterm_state.pid, 0);
  sigterm_state.enabled = false;
  pthread_mutex_unlock(&sigterm_state.lock);
  sp_wake_call(&sigterm_state.wake);
}

void sp_sigterm_before_fork(void) {
  pthread_mutex_lock(&sigterm_state.lock);
  sigterm_mask(SIG_BLOCK, &sigterm_state.before_fork);
}

void sp_sigterm_after_fork_parent(void) {
  pthread_sigmask(SIG_SETMASK, &sigterm_state.before_fork, NULL);
  pthread_mutex_unlock(&sigterm_state.lock);
}

void sp_sigterm_after_fork_child(void) {
  sigterm_state.waiting = false;
  atomic_store(&sigterm_state.pid, 0);
  atomic_store(&sigterm_state.received, false);
  atomic_store(&sigterm_state.forwarded, false);
  if (sigterm_is_ours() && !(sigterm_state.enabled && waiter_start()))
    sigterm_restore();
  pthread_sigmask(SIG_SETMASK, &sigterm_state.before_fork, NULL);
  pthread_mutex_unlock(&sigterm_state.lock);
}
