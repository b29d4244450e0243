/* A forked child that resets its signals before it executes another program
 * must not be ended by spanprof's signal. A child that continues to run this
 * program is sampled from its start. In these tests, a child is "young" for the
 * time SP_THREAD_YOUNG_NS. */
#include <spanprof/spanprof.h>

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "sampler/thread_record.h"

#define ANSWER       7
#define CHILDREN     10
#define RATE_HZ      100
#define DESCRIPTORS  20000
#define SHORT_WORK_S 0.02
#define LONG_WORK_S  0.2
#define YOUNG_TRIES  40
#define YOUNG_WORK_S 0.05
#define NOISE_SIGMAS 5.0

static volatile sig_atomic_t urgent_calls;

static spanprof_session *session_begin(void) {
  spanprof_options options;
  spanprof_session *session;

  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = "fork_exec";
  options.sample_rate_hz = RATE_HZ;
  CHECK(!spanprof_session_start(&options, &session));
  return session;
}

static void signals_reset(void (*action)(int)) {
  int number;

  for (number = 1; number <= SIGRTMAX; number++)
    signal(number, action);
}

static _Noreturn void program_become(void) {
  execl("/proc/self/exe", "test_fork_exec", "--answer", (char *)NULL);
  _exit(1);
}

static void answer_check(pid_t pid) {
  int status;

  CHECK(pid > 0);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
  CHECK_EQUAL(WEXITSTATUS(status), ANSWER);
}

static void children_check(void (*prepare)(void)) {
  spanprof_session *session = session_begin();
  int i;

  for (i = 0; i < CHILDREN; i++) {
    pid_t pid = fork();

    if (pid == 0) {
      prepare();
      program_become();
    }
    answer_check(pid);
  }
  CHECK(!spanprof_session_stop(session, 10000));
}

static void reset_and_work(void) {
  signals_reset(SIG_DFL);
  burn_cpu_s(SHORT_WORK_S);
}

static void work_and_reset(void) {
  burn_cpu_s(LONG_WORK_S);
  signals_reset(SIG_DFL);
  burn_cpu_s(SHORT_WORK_S);
}

static void ignore_and_work(void) {
  signals_reset(SIG_IGN);
  burn_cpu_s(SHORT_WORK_S);
}

static void reset_and_close(void) {
  struct rlimit limit;
  int i;

  signals_reset(SIG_DFL);
  CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
  for (i = 3; i < DESCRIPTORS; i++) {
    close(i);
    fcntl(i, F_GETFD);
  }
}

static void signals_mask(int how) {
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(how, &all, NULL);
}

/* Signals that are pending when their actions are reset stay pending. */
static void reset_while_blocked(void) {
  signals_mask(SIG_BLOCK);
  burn_cpu_s(SHORT_WORK_S);
  signals_reset(SIG_DFL);
  signals_mask(SIG_UNBLOCK);
  burn_cpu_s(SHORT_WORK_S);
}

/* Reset the signals, and run long enough for a scan to happen. */
static void reset_and_linger(void) {
  signals_reset(SIG_DFL);
  burn_cpu_s(LONG_WORK_S);
}

static void a_child_that_resets_its_signals_lives_on(void) {
  children_check(reset_and_work);
}

static void a_child_that_resets_them_late_lives_on(void) {
  children_check(work_and_reset);
}

static void a_child_that_resets_them_and_lingers_lives_on(void) {
  children_check(reset_and_linger);
}

static void a_child_that_ignores_its_signals_lives_on(void) {
  children_check(ignore_and_work);
}

static void a_child_that_closes_its_descriptors_lives_on(void) {
  children_check(reset_and_close);
}

static void a_child_that_blocks_and_resets_lives_on(void) {
  children_check(reset_while_blocked);
}

static void a_child_forked_with_signals_blocked_lives_on(void) {
  spanprof_session *session = session_begin();
  sigset_t before;
  int i;

  for (i = 0; i < CHILDREN; i++) {
    sigset_t all;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid = fork();
    if (pid == 0) {
      burn_cpu_s(LONG_WORK_S);
      signals_reset(SIG_DFL);
      pthread_sigmask(SIG_SETMASK, &before, NULL);
      burn_cpu_s(SHORT_WORK_S);
      program_become();
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    answer_check(pid);
  }
  CHECK(!spanprof_session_stop(session, 10000));
}

static void children_of_other_fork_calls_live_on(void) {
  char *arguments[] = {"test_fork_exec", "--answer", NULL};
  spanprof_session *session = session_begin();
  extern char **environ;
  int i, status;
  pid_t pid;

  for (i = 0; i < CHILDREN; i++) {
    pid = vfork();
    if (pid == 0) {
      execl("/proc/self/exe", "test_fork_exec", "--answer", (char *)NULL);
      _exit(1);
    }
    answer_check(pid);
    CHECK(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ));
    answer_check(pid);
    status = system("exit 7");
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), ANSWER);
  }
  CHECK(!spanprof_session_stop(session, 10000));
}

typedef struct work_report {
  double cpu_s;
  uint64_t ticks;
} work_report;

static work_report child_work(void (*first)(void)) {
  work_report report = {0};
  int ends[2], status;
  pid_t pid;

  CHECK(!pipe(ends));
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    const double from_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
    spanprof_stats stats = {.struct_size = sizeof stats};

    if (first)
      first();
    burn_cpu_s(YOUNG_WORK_S);
    CHECK(!spanprof_stats_get(&stats));
    report = (work_report){clock_s(CLOCK_THREAD_CPUTIME_ID) - from_s,
                           stats.ticks_taken};
    CHECK_EQUAL(write(ends[1], &report, sizeof report), sizeof report);
    _exit(0);
  }
  CHECK_EQUAL(read(ends[0], &report, sizeof report), sizeof report);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  close(ends[0]);
  close(ends[1]);
  return report;
}

/* A timer's first interval is random, so the number of ticks of one child is
 * its CPU time in intervals, with a standard deviation of less than half an
 * interval. Ticks that expired since the last kernel tick in the thread are not
 * yet delivered: at most 10 ms, or, on average, 1 ms for each thread that
 * competes for the processor. */
static void a_young_childs_cpu_time_is_counted(void) {
  spanprof_session *session = session_begin();
  double expected = 0, ticks = 0, noise, late, running;
  int i;

  for (i = 0; i < YOUNG_TRIES; i++) {
    work_report report = child_work(NULL);

    expected += report.cpu_s * RATE_HZ;
    ticks += (double)report.ticks;
  }
  CHECK(!spanprof_session_stop(session, 10000));
  noise = NOISE_SIGMAS * 0.5 * sqrt(YOUNG_TRIES);
  CHECK_EQUAL(getloadavg(&running, 1), 1);
  late = YOUNG_TRIES * fmax(0.5, 0.1 * running);
  fprintf(stderr, "  %.0f ticks, %.1f expected\n", ticks, expected);
  CHECK(ticks >= expected - noise - late);
  CHECK(ticks <= expected + noise);
}

static void urgent_handle(int number) {
  (void)number;
  urgent_calls++;
}

/* If the program handles SP_THREAD_YOUNG_SIGNAL, the profiler does not use that
 * signal in a child. Scans record the CPU time of the child's threads
 * instead. */
static void a_signal_that_the_program_handles_is_not_used(void) {
  spanprof_session *session = session_begin();
  struct sigaction action;

  signal(SP_THREAD_YOUNG_SIGNAL, urgent_handle);
  (void)child_work(NULL);
  CHECK(!sigaction(SP_THREAD_YOUNG_SIGNAL, NULL, &action));
  CHECK(action.sa_handler == urgent_handle);
  signal(SP_THREAD_YOUNG_SIGNAL, SIG_DFL);
  CHECK(!spanprof_session_stop(session, 10000));
}

static int signal_now(uint32_t *timers) {
  int number;

  pthread_mutex_lock(&sp_threads.lock);
  number = sp_threads.signal_number;
  *timers = sp_threads.timer_count;
  pthread_mutex_unlock(&sp_threads.lock);
  return number;
}

/* A young child installs its own handler for SP_THREAD_YOUNG_SIGNAL. After the
 * next scan, spanprof no longer sends that signal. */
static int urgent_child(void) {
  uint32_t timers;
  int calls;

  signal(SP_THREAD_YOUNG_SIGNAL, urgent_handle);
  do
    burn_cpu_s(0.01);
  while (signal_now(&timers) != 0);
  CHECK_EQUAL(timers, 0);
  calls = urgent_calls;
  burn_cpu_s(0.1);
  CHECK_EQUAL(urgent_calls, calls);
  return ANSWER;
}

static void a_signal_that_a_child_starts_to_use_is_left_to_it(void) {
  spanprof_session *session = session_begin();
  pid_t pid = fork();

  if (pid == 0)
    _exit(urgent_child());
  answer_check(pid);
  CHECK(!spanprof_session_stop(session, 10000));
}

static void parent_signal_check(int number) {
  struct sigaction action;

  CHECK(!sigaction(number, NULL, &action));
  CHECK(action.sa_handler == SIG_DFL);
}

/* End the time SP_THREAD_YOUNG_NS, so that the child is no longer young. */
static void grow(void) {
  pthread_mutex_lock(&sp_threads.lock);
  CHECK_EQUAL(sp_threads.signal_number, SP_THREAD_YOUNG_SIGNAL);
  CHECK(sp_threads.young_until_ns > 0);
  sp_threads.young_until_ns = 1;
  pthread_mutex_unlock(&sp_threads.lock);
}

static int grown_child(void) {
  const int session_signal = sp_threads.session_signal;
  uint32_t timers = 0;

  grow();
  /* Wait until the collector has scanned. */
  while (signal_now(&timers) != session_signal || timers == 0)
    burn_cpu_s(0.01);
  return ANSWER;
}

static void a_grown_child_has_the_sessions_signal(void) {
  spanprof_session *session = session_begin();
  pid_t pid = fork();

  if (pid == 0)
    _exit(grown_child());
  answer_check(pid);
  parent_signal_check(SP_THREAD_YOUNG_SIGNAL);
  CHECK(!spanprof_session_stop(session, 10000));
}

/* A child that is no longer young resets its signal handlers. After one scan,
 * no signal of spanprof can end it. */
static int disarmed_child(void) {
  uint32_t timers = 0;

  grown_child();
  signals_mask(SIG_BLOCK);
  signals_reset(SIG_DFL);
  do {
    poll(NULL, 0, 10);
    signal_now(&timers);
  } while (timers > 0);
  return ANSWER;
}

static void timers_are_deleted_with_the_handler(void) {
  spanprof_session *session = session_begin();
  pid_t pid = fork();

  if (pid == 0)
    _exit(disarmed_child());
  answer_check(pid);
  CHECK(!spanprof_session_stop(session, 10000));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_child_that_resets_its_signals_lives_on",
       a_child_that_resets_its_signals_lives_on},
      {"a_child_that_resets_them_late_lives_on",
       a_child_that_resets_them_late_lives_on},
      {"a_child_that_resets_them_and_lingers_lives_on",
       a_child_that_resets_them_and_lingers_lives_on},
      {"a_child_that_ignores_its_signals_lives_on",
       a_child_that_ignores_its_signals_lives_on},
      {"a_child_that_closes_its_descriptors_lives_on",
       a_child_that_closes_its_descriptors_lives_on},
      {"a_child_that_blocks_and_resets_lives_on",
       a_child_that_blocks_and_resets_lives_on},
      {"a_child_forked_with_signals_blocked_lives_on",
       a_child_forked_with_signals_blocked_lives_on},
      {"children_of_other_fork_calls_live_on",
       children_of_other_fork_calls_live_on},
      {"a_young_childs_cpu_time_is_counted",
       a_young_childs_cpu_time_is_counted},
      {"a_signal_that_the_program_handles_is_not_used",
       a_signal_that_the_program_handles_is_not_used},
      {"a_signal_that_a_child_starts_to_use_is_left_to_it",
       a_signal_that_a_child_starts_to_use_is_left_to_it},
      {"a_grown_child_has_the_sessions_signal",
       a_grown_child_has_the_sessions_signal},
      {"timers_are_deleted_with_the_handler",
       timers_are_deleted_with_the_handler},
  };

  if (argc == 2 && strcmp(argv[1], "--answer") == 0)
    return ANSWER;
#if defined(__SANITIZE_THREAD__)
  fprintf(stderr, "skipped: ThreadSanitizer ends a forked child that starts a "
                  "thread\n");
  return 77;
#endif
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
