#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/system/status.h"

/* Time to wait for the exit of a browser that fails to start. If it still runs
 * after this time, it has started. */
#define BROWSER_WAIT_MS 2000
#define BROWSER_STEP_MS 10
#define BROWSER_MISSING 127

/* Starts the browser. The shell splits the value of BROWSER into words, and
 * searches PATH for the other openers. */
static const char browser_script[] =
    "set -f\n"
    "[ -n \"$BROWSER\" ] && exec $BROWSER \"$1\"\n"
    "for opener in xdg-open wslview open; do\n"
    "  command -v $opener >/dev/null && exec $opener \"$1\"\n"
    "done\n"
    "exit 127\n";

/* Signals whose action is the default in the browser. Without this, it would
 * inherit the signals that this process ignores. */
static const int browser_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                                      SIGTERM, SIGCHLD, SIGXFSZ};

/* Start the browser without the blocked and ignored signals of this process,
 * and in a session of its own, so that Ctrl-C in this terminal does not stop
 * it. Returns 0 or an errno value. */
static int browser_spawn(const char *address, pid_t *pid) {
  char *const argv[] = {
      "sh", "-c", (char *)browser_script, "sh", (char *)address, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, usual;
  int failed = posix_spawn_file_actions_init(&files);
  size_t i;

  if (failed)
    return failed;
  failed = posix_spawnattr_init(&attributes);
  if (failed) {
    posix_spawn_file_actions_destroy(&files);
    return failed;
  }
  sigemptyset(&none);
  sigemptyset(&usual);
  for (i = 0; i < SP_COUNT_OF(browser_signals); i++)
    sigaddset(&usual, browser_signals[i]);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  failed =
      posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  if (!failed)
    failed =
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  if (!failed)
    failed = posix_spawn_file_actions_adddup2(&files, 1, 2);
  if (!failed)
    failed = posix_spawn(pid, "/bin/sh", &files, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

/* Returns the browser's exit status, or -1 if a signal killed it. Returns 0 if
 * the browser still runs, or if another thread took its exit status. */
static int browser_wait(pid_t pid) {
  const struct timespec step = {.tv_nsec = BROWSER_STEP_MS * 1000000L};
  int status, waited;

  for (waited = 0; waited < BROWSER_WAIT_MS; waited += BROWSER_STEP_MS) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);

    if (ended < 0 && errno != EINTR)
      return 0;
    if (ended == pid)
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    nanosleep(&step, NULL);
  }
  return 0;
}

spanprof_status sp_browser_open(const char *address) {
  pid_t pid;
  int status;
  const int failed = browser_spawn(address, &pid);

  if (failed)
    return sp_fail(SPANPROF_ERR_IO, "cannot start a browser: %s",
                   strerror(failed));
  status = browser_wait(pid);
  if (status == BROWSER_MISSING)
    return sp_fail(SPANPROF_ERR_UNSUPPORTED,
                   "there is no browser to show the page: set BROWSER, or "
                   "install xdg-open");
  if (status)
    return sp_fail(SPANPROF_ERR_IO,
                   "the browser failed: set BROWSER to another one");
  return SPANPROF_OK;
}
