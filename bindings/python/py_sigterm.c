/* The handler only posts; a thread that waits for nothing else flushes, gives
 * the signal its default action back and sends it again. Neither needs the GIL:
 * the worker may be in C code that does not return. */
#include "py_sigterm.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#define SIGTERM_FLUSH_MS 1000

static struct {
  sem_t came;
  int watched; /* in this process; with the GIL, or in a forked child */
  sigset_t before_fork;
} sigterm;

static void sigterm_handler(int number) {
  const int kept = errno;

  (void)number;
  sem_post(&sigterm.came);
  errno = kept;
}

static void *sigterm_thread(void *unused) {
  (void)unused;
  while (sem_wait(&sigterm.came) != 0)
    continue;
  spanprof_session_flush(spanprof_session_current(), SIGTERM_FLUSH_MS);
  signal(SIGTERM, SIG_DFL);
  kill(getpid(), SIGTERM);
  return NULL;
}

static int sigterm_has(void (*handler)(int)) {
  struct sigaction action;

  return sigaction(SIGTERM, NULL, &action) == 0 &&
         !(action.sa_flags & SA_SIGINFO) && action.sa_handler == handler;
}

/* A signal that meets the child before it has the default action again must
 * not be lost: it waits. */
static void sigterm_before_fork(void) {
  sigset_t ours;

  sigemptyset(&ours);
  sigaddset(&ours, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ours, &sigterm.before_fork);
}

static void sigterm_after_fork_parent(void) {
  pthread_sigmask(SIG_SETMASK, &sigterm.before_fork, NULL);
}

static void sigterm_after_fork_child(void) {
  sigterm.watched = 0;
  if (sigterm_has(sigterm_handler))
    signal(SIGTERM, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &sigterm.before_fork, NULL);
}

/* The thread first: from the handler's installation on somebody must wait. */
static void sigterm_watch(void) {
  struct sigaction action = {.sa_handler = sigterm_handler,
                             .sa_flags = SA_RESTART};
  sigset_t every, before;
  pthread_t thread;

  if (sem_init(&sigterm.came, 0, 0) != 0)
    return;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  sigterm.watched = pthread_create(&thread, NULL, sigterm_thread, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!sigterm.watched)
    return;
  pthread_detach(thread);
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
}

static PyObject *sigterm_hand_on(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  if (!sigterm.watched && sigterm_has(SIG_DFL))
    sigterm_watch();
  Py_RETURN_NONE;
}

static PyMethodDef sigterm_methods[] = {
    {"hand_on_at_sigterm", sigterm_hand_on, METH_NOARGS,
     "hand_on_at_sigterm(): flush before the default action of SIGTERM."},
    {NULL, NULL, 0, NULL},
};

int py_sp_sigterm_init(PyObject *module) {
  if (pthread_atfork(sigterm_before_fork, sigterm_after_fork_parent,
                     sigterm_after_fork_child) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  return PyModule_AddFunctions(module, sigterm_methods);
}
