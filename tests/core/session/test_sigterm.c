/* The option flush_on_sigterm: if SIGTERM has its default action, the samples
 * are delivered and the signal still ends the process. Handlers of the program
 * do not change. */
#include <spanprof/spanprof.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "export_fixture.h"
#include "sink_process.h"

#define WORK_S 1.0
#define RACES  40
#define STARTS 20
/* CPU time that may be missing in the profile: the unfinished sampling
 * interval, a kernel tick, and the time for which the host suspended the
 * virtual machine (45 ms were seen). */
#define NOISE_S 0.08

static void nap(double seconds) {
  struct timespec pause = {(time_t)seconds,
                           (long)((seconds - (double)(time_t)seconds) * 1e9)};

  while (nanosleep(&pause, &pause) != 0)
    ;
}

static spanprof_session *session_begin(int64_t wanted, const char *address,
                                       const char *spool) {
  spanprof_options options;
  spanprof_session *session;

  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = "ends";
  options.server_address = address;
  options.spool_directory = spool;
  options.upload_interval_ms = 3600000;
  options.flush_on_sigterm = wanted;
  options.log_level = SPANPROF_LOG_OFF;
  CHECK(!spanprof_session_start(&options, &session));
  return session;
}

/* ---------------------------------------------------------------- programs */

/* CPU time that the thread had used before the session. */
static double begun_s;

static void burned_print(void) {
  double worked_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - begun_s;

  CHECK_EQUAL(write(1, &worked_s, sizeof worked_s), sizeof worked_s);
}

/* Print the used CPU time and wait for a signal that ends the process. pause()
 * returns after each handled signal. */
static void wait_for_the_end(void) {
  burned_print();
  for (;;)
    pause();
}

static void program_idle(void) {
  burn_cpu_s(WORK_S);
  wait_for_the_end();
}

static void program_busy(void) {
  burn_cpu_s(WORK_S);
  burned_print();
  burn_cpu_s(1e9);
}

static void *worker_run(void *nothing) {
  (void)nothing;
  CHECK(!spanprof_thread_register());
  begun_s = 0;
  program_busy();
  return NULL;
}

/* The first thread blocks SIGTERM, so another thread receives it. */
static void program_first_thread_blocks(void) {
  pthread_t worker;
  sigset_t number;

  CHECK(!pthread_create(&worker, NULL, worker_run, NULL));
  sigemptyset(&number);
  sigaddset(&number, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &number, NULL);
  pthread_join(worker, NULL);
}

#if CHECK_FORKS
/* SIGTERM ends a forked child, and its parent continues. The parent uses no CPU
 * time. */
static void program_forked(void) {
  int status, ends[2];
  pid_t pid;
  char told_one;

  CHECK(!pipe(ends));
  pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    program_busy();
  }
  CHECK(read(ends[0], &told_one, 1) == 1);
  CHECK(!kill(pid, SIGTERM));
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFSIGNALED(status));
  CHECK_EQUAL(WTERMSIG(status), SIGTERM);
  wait_for_the_end();
}
#endif

/* The process is PID 1 of a namespace, where the default action of SIGTERM does
 * not end the process. */
static void program_first_of_its_namespace(void) {
  CHECK_EQUAL(getpid(), 1);
  burn_cpu_s(WORK_S / 2);
  CHECK(!kill(getpid(), SIGTERM));
  burn_cpu_s(WORK_S / 2);
  nap(1.5); /* for a last window of one second and its upload */
  wait_for_the_end();
}

static void program_restarts(void) {
  burned_print();
  for (;;) {
    spanprof_session_stop(spanprof_session_current(), 1000);
    session_begin(1, NULL, NULL);
  }
}

static const struct program {
  const char *name;
  void (*run)(void);
} programs[] = {
    {"idle", program_idle},
    {"busy", program_busy},
    {"first_thread_blocks", program_first_thread_blocks},
#if CHECK_FORKS
    {"forked", program_forked},
#endif
    {"first_of_its_namespace", program_first_of_its_namespace},
    {"restarts", program_restarts},
};

static int run_program(char **argv) {
  size_t i;

  session_begin(1, argv[3], argv[4]);
  begun_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
  for (i = 0; i < sizeof programs / sizeof programs[0]; i++)
    if (strcmp(argv[2], programs[i].name) == 0)
      programs[i].run();
  return 1;
}

typedef struct child {
  pid_t pid;
  double worked_s;
} child;

/* Start the program `name` and wait until it prints its CPU time. `prefix` is a
 * command that runs the program. */
static child child_start(const char *const *prefix, const char *name,
                         const char *address, const char *spool) {
  const char *argv[16] = {NULL};
  char self[4096] = "";
  size_t count = 0;
  int ends[2];
  child out;

  while (prefix && prefix[count]) {
    argv[count] = prefix[count];
    count++;
  }
  CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  argv[count++] = self;
  argv[count++] = "--program";
  argv[count++] = name;
  argv[count++] = address;
  argv[count++] = spool;
  CHECK(!pipe(ends));
  out.pid = fork();
  if (out.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
  }
  close(ends[1]);
  CHECK_EQUAL(read(ends[0], &out.worked_s, sizeof out.worked_s),
              sizeof out.worked_s);
  close(ends[0]);
  return out;
}

static void child_terminate(const child *ended) {
  int status;

  CHECK(!kill(ended->pid, SIGTERM));
  CHECK_EQUAL(waitpid(ended->pid, &status, 0), ended->pid);
  CHECK(WIFSIGNALED(status));
  CHECK_EQUAL(WTERMSIG(status), SIGTERM);
}

static void uploaded_check(const sink_process *sink, double worked_s) {
  double sent_s = (double)sink_number(sink, "value") / 1e9;

  fprintf(stderr, "  %.3f s of %.3f s\n", sent_s, worked_s);
  CHECK(sent_s >= worked_s - NOISE_S);
}

/* ------------------------------------------------------------------- tests */

static void program_check(const char *name) {
  sink_process sink;
  child ended;

  sink_start(&sink, "http", NULL);
  ended = child_start(NULL, name, sink.address, "");
  child_terminate(&ended);
  uploaded_check(&sink, ended.worked_s);
  sink_stop(&sink);
}

static void an_idle_program_delivers_its_window(void) {
  program_check("idle");
}

static void a_busy_program_delivers_its_window(void) {
  program_check("busy");
}

static void any_thread_may_receive_the_signal(void) {
  program_check("first_thread_blocks");
}

#if CHECK_FORKS
static void a_forked_child_delivers_its_own_window(void) {
  sink_process sink;
  child parent;

  sink_start(&sink, "http", NULL);
  parent = child_start(NULL, "forked", sink.address, "");
  uploaded_check(&sink, WORK_S);
  child_terminate(&parent);
  sink_stop(&sink);
}
#endif

static void a_hanging_server_delays_the_end_by_two_seconds(void) {
  char spool[64], find[128];
  sink_process sink;
  child ended;
  double from_s;

  directory_new(spool);
  sink_start(&sink, "http", NULL);
  sink_control(&sink, "{\"mode\": \"hang\"}");
  ended = child_start(NULL, "idle", sink.address, spool);
  from_s = clock_s(CLOCK_MONOTONIC);
  child_terminate(&ended);
  from_s = clock_s(CLOCK_MONOTONIC) - from_s;
  fprintf(stderr, "  %.3f s\n", from_s);
  CHECK(from_s < 3);
  CHECK_EQUAL(sink_number(&sink, "value"), 0);
  snprintf(find, sizeof find, "find %s -name '*.profile' | grep -q .", spool);
  CHECK_EQUAL(system(find), 0);
  sink_stop(&sink);
  directory_remove(spool);
}

/* The first process of a PID namespace survives SIGTERM. The test kills it
 * after it has uploaded the samples of all its work. */
static void the_first_process_of_a_container_continues(void) {
  static const char *const prefix[] = {"unshare",      "--pid",        "--fork",
                                       "--mount-proc", "--kill-child", NULL};
  sink_process sink;
  child first;

  if (system("unshare --pid --fork --mount-proc true 2>/dev/null") != 0) {
    fprintf(stderr, "SKIP: this machine cannot create a PID namespace\n");
    exit(77);
  }
  sink_start(&sink, "http", NULL);
  first = child_start(prefix, "first_of_its_namespace", sink.address, "");
  CHECK(!kill(first.pid, SIGKILL));
  CHECK_EQUAL(waitpid(first.pid, NULL, 0), first.pid);
  uploaded_check(&sink, first.worked_s);
  sink_stop(&sink);
}

static void no_signal_is_lost_between_a_stop_and_a_start(void) {
  int i;

  for (i = 0; i < RACES; i++) {
    child ended = child_start(NULL, "restarts", "", "");

    nap(0.0007 * i);
    child_terminate(&ended);
  }
}

static struct sigaction action_now(void) {
  struct sigaction action;

  CHECK(!sigaction(SIGTERM, NULL, &action));
  return action;
}

static void no_handler_is_installed_by_default(void) {
  spanprof_session *session = session_begin(SPANPROF_UNSET, NULL, NULL);

  CHECK(action_now().sa_handler == SIG_DFL);
  CHECK(!spanprof_session_stop(session, 1000));
  session = session_begin(1, NULL, NULL);
  CHECK(action_now().sa_handler != SIG_DFL);
  CHECK((action_now().sa_flags & (SA_ONSTACK | SA_RESTART)) ==
        (SA_ONSTACK | SA_RESTART));
  CHECK(!spanprof_session_stop(session, 1000));
  CHECK(action_now().sa_handler == SIG_DFL);
}

static volatile sig_atomic_t handled;

static void handle(int number) {
  (void)number;
  handled++;
}

static void a_handler_of_the_program_is_not_replaced(void) {
  spanprof_session *session;

  signal(SIGTERM, handle);
  session = session_begin(1, NULL, NULL);
  CHECK(action_now().sa_handler == handle);
  CHECK(!spanprof_session_stop(session, 1000));
  CHECK(action_now().sa_handler == handle);
  signal(SIGTERM, SIG_IGN);
  session = session_begin(1, NULL, NULL);
  CHECK(action_now().sa_handler == SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  CHECK(!spanprof_session_stop(session, 1000));
  session = session_begin(1, NULL, NULL);
  signal(SIGTERM, handle); /* replaces the library's handler */
  raise(SIGTERM);
  CHECK_EQUAL(handled, 1);
  CHECK(spanprof_session_current() == session);
  CHECK(!spanprof_session_stop(session, 1000));
  CHECK(action_now().sa_handler == handle);
  signal(SIGTERM, SIG_DFL);
}

/* ThreadSanitizer does not support a child that clone(2) has created. */
#if !defined(__SANITIZE_THREAD__)
static void status_check(pid_t pid) {
  int status;

  CHECK(pid > 0);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFSIGNALED(status));
  CHECK_EQUAL(WTERMSIG(status), SIGTERM);
}

/* A program saves the library's handler, and restores it after the session. */
static void spanprofs_handler_has_the_default_action_without_a_session(void) {
  spanprof_session *session = session_begin(1, NULL, NULL);
  struct sigaction ours = action_now();
  pid_t pid;

  signal(SIGTERM, SIG_DFL);
  CHECK(!spanprof_session_stop(session, 1000));
  CHECK(!sigaction(SIGTERM, &ours, NULL));
  pid = fork();
  if (pid == 0) {
    sigaction(SIGTERM, &ours, NULL);
    raise(SIGTERM);
    _exit(0);
  }
  status_check(pid);
  signal(SIGTERM, SIG_DFL);
}

static int child_raises(void *nothing) {
  (void)nothing;
  kill(getpid(), SIGTERM);
  return 0;
}

/* SIGTERM in a child that shares this process's memory, as after vfork(), and
 * in a child that does not. Neither child has the library's threads. Each ends
 * at once, and the parent's session continues. */
static void a_child_without_fork_hooks_ends_immediately(void) {
  static char stack[65536] __attribute__((aligned(16)));
  spanprof_session *session = session_begin(1, NULL, NULL);
  pid_t pid =
      clone(child_raises, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);

  status_check(pid);
  pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0)
    _exit(child_raises(NULL));
  status_check(pid);
  nap(0.1);
  CHECK(spanprof_session_current() == session);
  CHECK(!spanprof_session_stop(session, 1000));
}

/* This test counts threads, so it does not run under ThreadSanitizer, which has
 * a thread of its own. */
static void the_thread_ends_with_the_session(void) {
  double until_s;
  int i;

  for (i = 0; i < STARTS; i++)
    CHECK(!spanprof_session_stop(session_begin(1, NULL, NULL), 1000));
  until_s = clock_s(CLOCK_MONOTONIC) + 10;
  while (directory_count("/proc/self/task", "") > 1) {
    CHECK(clock_s(CLOCK_MONOTONIC) < until_s);
    nap(0.01);
  }
}
#endif

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"an_idle_program_delivers_its_window",
     an_idle_program_delivers_its_window},
    {"a_busy_program_delivers_its_window", a_busy_program_delivers_its_window},
    {"any_thread_may_receive_the_signal", any_thread_may_receive_the_signal},
#if CHECK_FORKS
    {"a_forked_child_delivers_its_own_window",
     a_forked_child_delivers_its_own_window},
#endif
    {"a_hanging_server_delays_the_end_by_two_seconds",
     a_hanging_server_delays_the_end_by_two_seconds},
    {"no_signal_is_lost_between_a_stop_and_a_start",
     no_signal_is_lost_between_a_stop_and_a_start},
    {"no_handler_is_installed_by_default", no_handler_is_installed_by_default},
    {"a_handler_of_the_program_is_not_replaced",
     a_handler_of_the_program_is_not_replaced},
#if !defined(__SANITIZE_THREAD__)
    {"spanprofs_handler_has_the_default_action_without_a_session",
     spanprofs_handler_has_the_default_action_without_a_session},
    {"a_child_without_fork_hooks_ends_immediately",
     a_child_without_fork_hooks_ends_immediately},
    {"the_thread_ends_with_the_session", the_thread_ends_with_the_session},
#endif
    {"the_first_process_of_a_container_continues",
     the_first_process_of_a_container_continues},
  };

  if (argc == 5 && strcmp(argv[1], "--program") == 0)
    return run_program(argv);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
