/* A profiled process executes 300 programs: by fork and execv, by posix_spawn,
 * by vfork and execv, and as a profiled process that executes itself
 * repeatedly. No timer or signal of the library survives an exec, so no program
 * dies of a signal. */
#include "stress_run.h"

#include <spawn.h>
#include <sys/wait.h>

#define EXEC_CHAIN          75
#define EXEC_ANSWER         7
#define EXEC_CHAIN_ARGUMENT "chain"
#define EXEC_CHILD_ARGUMENT "child"

static char exec_self[4096];
static _Atomic bool work_over;

static void *worker_run(void *data) {
  (void)data;
  while (!atomic_load(&work_over))
    stress_burn(STRESS_NS_PER_MS);
  return NULL;
}

static void session_begin(void) {
  static stress_run run;
  pthread_t thread;

  stress_run_init(&run, "exec_loop");
  run.options.on_profile = NULL;
  stress_run_start(&run);
  pthread_create(&thread, NULL, worker_run, NULL);
  pthread_detach(thread);
}

/* Called in a profiled process that executes itself `left` more times. */
static int chain_go(int left) {
  char number[16];
  char *arguments[] = {exec_self, EXEC_CHAIN_ARGUMENT, number, NULL};

  alarm(60);
  stress_burn(2 * STRESS_NS_PER_MS);
  if (left == 0)
    return EXEC_ANSWER;
  /* A child of a profiled process is already profiled. */
  if (!spanprof_session_current())
    session_begin();
  stress_burn(5 * STRESS_NS_PER_MS);
  snprintf(number, sizeof number, "%d", left - 1);
  execv(exec_self, arguments);
  return 1;
}

static void answer_check(pid_t pid, const char *how) {
  int status;

  STRESS_REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid, "no child");
  STRESS_REQUIRE(!WIFSIGNALED(status),
                 "a program started by %s died of signal %d", how,
                 WTERMSIG(status));
  STRESS_REQUIRE(WEXITSTATUS(status) == EXEC_ANSWER, "%s: exit status %d", how,
                 WEXITSTATUS(status));
}

static void program_spawn(unsigned how) {
  char *arguments[] = {exec_self, EXEC_CHILD_ARGUMENT, NULL};
  extern char **environ;
  pid_t pid;

  switch (how) {
  case 0:
    pid = fork();
    if (pid == 0) {
      stress_burn(STRESS_NS_PER_MS);
      execv(exec_self, arguments);
      _exit(1);
    }
    answer_check(pid, "fork and execv");
    break;
  case 1:
    pid = vfork();
    if (pid == 0) {
      execv(exec_self, arguments);
      _exit(1);
    }
    answer_check(pid, "vfork and execv");
    break;
  default:
    if (posix_spawn(&pid, exec_self, NULL, NULL, arguments, environ) != 0)
      pid = -1;
    answer_check(pid, "posix_spawn");
  }
}

int main(int argc, char **argv) {
  ssize_t length = readlink("/proc/self/exe", exec_self, sizeof exec_self - 1);
  uint64_t until_ns;
  unsigned i, programs = 0;
  pid_t pid;

  STRESS_REQUIRE(length > 0, "/proc/self/exe cannot be read");
  if (argc == 2 && strcmp(argv[1], EXEC_CHILD_ARGUMENT) == 0) {
    stress_burn(2 * STRESS_NS_PER_MS);
    return EXEC_ANSWER;
  }
  if (argc == 3 && strcmp(argv[1], EXEC_CHAIN_ARGUMENT) == 0)
    return chain_go(atoi(argv[2]));
  until_ns = stress_begin();
  stress_wall_hz("1000");
  do {
    pid = fork();
    if (pid == 0)
      _exit(chain_go(EXEC_CHAIN));
    answer_check(pid, "execv of itself");
    programs += EXEC_CHAIN;
    if (!spanprof_session_current())
      session_begin();
    for (i = 0; i < 3 * EXEC_CHAIN; i++, programs++)
      program_spawn(i % 3);
  } while (stress_now_ns() < until_ns);
  atomic_store(&work_over, true);
  STRESS_OK(spanprof_session_stop(spanprof_session_current(), 5000));
  printf("%u programs executed, none died of a signal\n", programs);
  return 0;
}
