#include <spanprof/runtime.h>

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "sink_process.h"
#include "util/system/clock.h"
#include "util/system/own_thread.h"

static char session_directory[64];
static char session_log[8192];

static void log_keep(void *data, spanprof_log_level level,
                     const char *message) {
  (void)data;
  (void)level;
  strncat(session_log, message, sizeof session_log - strlen(session_log) - 2);
  strcat(session_log, "\n");
}

/* After pthread_create() below, the creator of a thread waits for this time, in
 * which the new thread already runs. */
static useconds_t session_head_start_us;

static bool session_exits; /* this process is a child that is exiting */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *argument) {
  int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  int error;

  if (session_exits)
    _exit(3); /* an exiting process must start no thread */
  *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
  error = next(thread, attributes, run, argument);
  if (session_head_start_us)
    usleep(session_head_start_us);
  return error;
}

/* An exit handler that runs after the library's exit handler, which must not
 * log and must have ended the session. */
static void log_must_be_silent(void) {
  if (session_exits && (session_log[0] || spanprof_session_running()))
    _exit(1);
}

static spanprof_options options_given(void) {
  spanprof_options options;

  CHECK_EQUAL(spanprof_options_init(&options, sizeof options), SPANPROF_OK);
  session_log[0] = '\0';
  strcpy(session_directory, "/tmp/spanprof-session-XXXXXX");
  CHECK(mkdtemp(session_directory) != NULL);
  options.application_name = "session/test";
  options.output_directory = session_directory;
  options.upload_interval_ms = 3600000; /* only one window, even on a slow
                                         * machine */
  options.log = log_keep;
  options.log_level = SPANPROF_LOG_INFO;
  return options;
}

/* Return the number of profiles in session_directory, and remove the directory.
 */
static int profiles_count_and_remove(void) {
  DIR *directory = opendir(session_directory);
  struct dirent *entry;
  int count = 0;

  CHECK(directory != NULL);
  while ((entry = readdir(directory))) {
    char path[400];

    if (entry->d_name[0] == '.')
      continue;
    CHECK(strncmp(entry->d_name, "session_test.", 13) == 0);
    CHECK(strstr(entry->d_name, ".pb.gz") != NULL);
    snprintf(path, sizeof path, "%s/%s", session_directory, entry->d_name);
    CHECK_EQUAL(unlink(path), 0);
    count++;
  }
  closedir(directory);
  rmdir(session_directory);
  return count;
}

static spanprof_stats stats_now(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};

  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  return stats;
}

/* The collector scans for threads immediately, and again 150 ms later. The
 * flush ends before the second scan, so the first scan must have found this
 * thread, although the collector thread started before the timers. */
static void threads_are_found_even_if_the_collector_starts_first(void) {
  spanprof_options options = options_given();
  spanprof_session *session;

  session_head_start_us = 20000;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  session_head_start_us = 0;
  CHECK_EQUAL(spanprof_session_flush(session, 20000), SPANPROF_OK);
  CHECK(stats_now().threads_profiled >= 1);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  profiles_count_and_remove();
}

static sem_t session_leave;

static void *wait_unregistered(void *unused) {
  (void)unused;
  while (sem_wait(&session_leave) != 0)
    continue;
  return NULL;
}

/* Is a new thread profiled within 200 ms? */
static bool found_in_time(uint64_t threads_before) {
  const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + 200 * 1000000u;

  while (stats_now().threads_profiled <= threads_before) {
    if (clock_ns(CLOCK_MONOTONIC) > until_ns)
      return false;
    usleep(2000);
  }
  return true;
}

/* On a busy machine a scan may be late, so the test accepts if half of the
 * threads are found in time. With one scan per second, it would be a fifth. */
static void an_unregistered_thread_is_found_within_200_ms(void) {
  enum { TRIES = 30 };
  spanprof_options options = options_given();
  spanprof_session *session;
  pthread_t threads[TRIES];
  int in_time = 0, i;

  CHECK_EQUAL(sem_init(&session_leave, 0, 0), 0);
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  for (i = 0; i < TRIES; i++) {
    const uint64_t before = stats_now().threads_profiled;

    CHECK_EQUAL(pthread_create(&threads[i], NULL, wait_unregistered, NULL), 0);
    in_time += found_in_time(before);
    usleep((useconds_t)(i % 8) *
           20000); /* the next thread starts at another time after a scan */
  }
  CHECK(in_time >= TRIES / 2);
  for (i = 0; i < TRIES; i++)
    sem_post(&session_leave);
  for (i = 0; i < TRIES; i++)
    pthread_join(threads[i], NULL);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  profiles_count_and_remove();
}

static void one_session_runs_at_a_time(void) {
  spanprof_options options = options_given();
  spanprof_session *session, *second;

  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  CHECK(spanprof_session_current() == session);
  CHECK(spanprof_session_running());
  CHECK_EQUAL(spanprof_session_start(&options, &second), SPANPROF_ERR_STATE);
  CHECK(second == NULL);
  CHECK(strstr(spanprof_last_error(), "already running"));
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK(spanprof_session_current() == NULL);
  CHECK(!spanprof_session_running());
  CHECK_EQUAL(spanprof_session_stop(session, 2000), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_flush(session, 10), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_stop(NULL, 0), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_start(&options, &second), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_stop(second, 20000), SPANPROF_OK);
  profiles_count_and_remove();
}

static void a_stop_delivers_the_samples(void) {
  spanprof_options options = options_given();
  spanprof_session *session;
  spanprof_stats stats;

  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(300);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  stats = stats_now();
  CHECK(stats.samples_taken > 0);
  CHECK_EQUAL(stats.samples_pending, 0);
  CHECK(stats.samples_exported > 0);
  CHECK_EQUAL(stats.samples_exported + stats.samples_dropped_full +
                  stats.samples_dropped_memory + stats.samples_dropped_export +
                  stats.samples_dropped_stop,
              stats.samples_taken);
  CHECK_EQUAL(stats.profiles_written, 1);
  CHECK_EQUAL(profiles_count_and_remove(), 1);
  CHECK(strstr(session_log, "profiling \"session/test\" at 100 Hz"));
  CHECK(strstr(session_log, session_directory));
}

static void a_flush_delivers_and_the_session_continues(void) {
  spanprof_options options = options_given();
  spanprof_session *session;

  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(200);
  CHECK_EQUAL(spanprof_session_flush(session, 5000), SPANPROF_OK);
  CHECK_EQUAL(stats_now().profiles_written, 1);
  burn_cpu_ms(200);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(profiles_count_and_remove(), 2);
}

static void a_failed_start_leaves_nothing_running(void) {
  spanprof_options options = options_given();
  spanprof_session *session = (spanprof_session *)&options;
  int tasks = tasks_count();

  options.sample_rate_hz = 5000;
  CHECK_EQUAL(spanprof_session_start(&options, &session),
              SPANPROF_ERR_ARGUMENT);
  CHECK(session == NULL);
  CHECK(strstr(spanprof_last_error(), "sample_rate_hz"));
  CHECK(tasks_fall_to(tasks));
  options.sample_rate_hz = 100;
  options.signal_number = SIGKILL;
  CHECK_EQUAL(spanprof_session_start(&options, &session),
              SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "signal"));
  CHECK(tasks_fall_to(tasks));
  CHECK(spanprof_session_current() == NULL);
  profiles_count_and_remove();
}

static void the_environment_switches_profiling_off(void) {
  spanprof_options options = options_given();
  spanprof_session *session;
  int tasks = tasks_count(), number;
  struct sigaction before[65], after;

  for (number = SIGRTMIN; number <= SIGRTMAX; number++)
    sigaction(number, NULL, &before[number]);
  setenv("PYROSCOPE_AGENT_ENABLED", "false", 1);
  CHECK_EQUAL(spanprof_session_start(&options, &session),
              SPANPROF_ERR_DISABLED);
  CHECK(strstr(spanprof_last_error(), "PYROSCOPE_AGENT_ENABLED"));
  unsetenv("PYROSCOPE_AGENT_ENABLED");
  CHECK(tasks_fall_to(tasks));
  for (number = SIGRTMIN; number <= SIGRTMAX; number++) {
    sigaction(number, NULL, &after);
    CHECK(after.sa_handler == before[number].sa_handler);
  }
  profiles_count_and_remove();
}

static void a_session_starts_with_options_from_the_environment_alone(void) {
  spanprof_session *session;

  options_given();
  setenv("PYROSCOPE_APPLICATION_NAME", "session/test", 1);
  setenv("PYROSCOPE_OUTPUT_DIRECTORY", session_directory, 1);
  CHECK_EQUAL(spanprof_session_start(NULL, &session), SPANPROF_OK);
  unsetenv("PYROSCOPE_APPLICATION_NAME");
  unsetenv("PYROSCOPE_OUTPUT_DIRECTORY");
  burn_cpu_ms(100);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(profiles_count_and_remove(), 1);
}

/* Return the length of the URL of a new root span with the default rules, or 0
 * if it has no URL. */
static size_t url_bytes(void) {
  const spanprof_span_info info = {.struct_size = sizeof info,
                                   .flags = SPANPROF_SPAN_SAMPLED,
                                   .name = "GET /",
                                   .name_bytes = 5};
  char buffer[1024];
  size_t length;
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_attribute_get(NULL, span, SPANPROF_ATTRIBUTE_URL,
                                          buffer, sizeof buffer, &length),
              SPANPROF_OK);
  spanprof_span_end(span);
  return length;
}

static void url_wait(void) {
  const struct timespec pause = {.tv_nsec = 10000000};
  int left = 2000;

  while (url_bytes() == 0) {
    CHECK(left-- > 0);
    nanosleep(&pause, NULL);
  }
}

/* The library asks the server once, at the start of the session, whether it
 * opens links to spans. After that, each answer to an upload says so. */
static void a_server_that_opens_links_gets_urls(void) {
  spanprof_options options = options_given();
  spanprof_session *session;
  sink_process sink;

  sink_start(&sink, "http", NULL);
  options.server_address = sink.address;
  sink_control(&sink, "{\"links\": \"span\"}");
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  url_wait();
  CHECK_EQUAL(spanprof_session_flush(session, 5000), SPANPROF_OK);
  CHECK_EQUAL(sink_number(&sink, "asked"), 1);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(url_bytes(), 0);

  sink_control(&sink, "{\"links\": \"\"}");
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  while (sink_number(&sink, "asked") < 2)
    burn_cpu_ms(10);
  CHECK_EQUAL(url_bytes(), 0);
  sink_control(&sink, "{\"links\": \"span\"}");
  burn_cpu_ms(100);
  CHECK_EQUAL(spanprof_session_flush(session, 5000), SPANPROF_OK);
  CHECK(url_bytes() > 0);
  CHECK_EQUAL(sink_number(&sink, "asked"), 2);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  sink_stop(&sink);
  profiles_count_and_remove();
}

static void the_log_has_no_credentials(void) {
  spanprof_options options = options_given();
  spanprof_session *session;

  options.server_address = "http://someone:hunter2@127.0.0.1:9";
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(100);
  spanprof_session_stop(session, 500);
  CHECK(strstr(session_log, "http://127.0.0.1:9"));
  CHECK(!strstr(session_log, "hunter2") && !strstr(session_log, "someone"));
  profiles_count_and_remove();
}

/* A forked child is sampled, writes a profile at its exit, and has counters of
 * its own, which start at zero. */
static void a_forked_child_is_profiled(void) {
#if !defined(__SANITIZE_THREAD__)
  spanprof_options options = options_given();
  spanprof_session *session;
  int status;
  pid_t child;

  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(100);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    spanprof_stats before = stats_now();

    burn_cpu_ms(300);
    exit(before.samples_exported == 0 && before.profiles_written == 0 ? 0 : 1);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(profiles_count_and_remove(), 2);
#else
  fprintf(stderr,
          "  skipped: ThreadSanitizer cannot start threads after a fork\n");
#endif
}

/* The log callback of a language must not be called during or after the
 * finalization of the language, which may happen in an exit handler that runs
 * before spanprof's. */
static void the_log_callback_is_not_called_once_exit_handlers_run(void) {
#if !defined(__SANITIZE_THREAD__)
  spanprof_options options = options_given();
  spanprof_session *session;
  int status;
  pid_t child;

  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
    CHECK(session_log[0]);
    burn_cpu_ms(100);
    session_log[0] = '\0';
    session_exits = true;
    exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(profiles_count_and_remove(), 1);
#else
  fprintf(stderr,
          "  skipped: ThreadSanitizer cannot start threads after a fork\n");
#endif
}

/* Ruby starts commands for the user root in this way: the child resets all
 * signals before exec(). The profiling signal must not end the child. */
static void a_fork_before_an_exec_is_not_affected(void) {
#if !defined(__SANITIZE_THREAD__)
  spanprof_options options = options_given();
  spanprof_session *session;
  sigset_t all, before;
  int status, number;
  pid_t child;

  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(50);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (number = 1; number <= SIGRTMAX; number++)
      signal(number, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    burn_cpu_ms(400);
    _exit(0);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(profiles_count_and_remove(), 1);
#else
  fprintf(stderr,
          "  skipped: ThreadSanitizer cannot start threads after a fork\n");
#endif
}

static void a_session_without_destination_is_logged(void) {
  spanprof_options options = options_given();
  spanprof_session *session;

  options.output_directory = NULL;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  CHECK(strstr(session_log, "profiles are neither sent nor stored"));
  spanprof_session_stop(session, 2000);
  profiles_count_and_remove();
}

static spanprof_session *_Atomic reentered;
static _Atomic int reentries;

static void *reenter(void *nothing) {
  spanprof_session *session = reentered;

  (void)nothing;
  stats_now();
  CHECK_EQUAL(spanprof_session_flush(session, 20000), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_pause(session), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_ERR_STATE);
  reentries++;
  return NULL;
}

static void log_reenters(void *data, spanprof_log_level level,
                         const char *message) {
  struct timespec until;
  pthread_t thread;

  log_keep(data, level, message);
  CHECK_EQUAL(pthread_create(&thread, NULL, reenter, NULL), 0);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 10;
  CHECK_EQUAL(pthread_timedjoin_np(thread, NULL, &until), 0);
}

/* The log callback waits for a thread that calls functions of the session. This
 * must also work if the uploading thread calls the callback while a stop waits
 * for the uploading thread. */
static void a_log_callback_may_wait_for_callers(void) {
  spanprof_options options = options_given();
  spanprof_session *session;
  int i;

  options.log = log_reenters;
  options.server_address = "http://127.0.0.1:1";
  for (i = 0; i < 2; i++) {
    /* Forget the previous session, because the next one may get its address. */
    reentered = NULL;
    CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
    burn_cpu_ms(100);
    /* Set it only now: each log line starts reenter(), which fails if this
     * session still runs. */
    reentered = session;
    CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  }
  CHECK(reentries >= 6);
  CHECK(strstr(session_log, "the upload to"));
  CHECK(strstr(session_log, "profiling stopped"));
  CHECK_EQUAL(profiles_count_and_remove(), 2);
}

static void stats_of_an_older_caller_are_filled_up_to_its_size(void) {
  struct {
    size_t struct_size;
    uint64_t samples_taken;
    uint64_t guard;
  } old = {.struct_size = 2 * sizeof(uint64_t), .guard = 42};
  spanprof_stats stats = {.struct_size = sizeof stats + 8};

  CHECK_EQUAL(spanprof_stats_get((spanprof_stats *)(void *)&old), SPANPROF_OK);
  CHECK_EQUAL(old.guard, 42);
  CHECK_EQUAL(old.struct_size, 2 * sizeof(uint64_t));
  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_ERR_ARGUMENT);
}

/* State of a language runtime whose `resolve` does not return while
 * `resolve_blocked` is true. */
static _Atomic bool resolve_blocked, resolving;
static _Atomic uint64_t stuck_code;

static size_t stuck_walk(void *data, const spanprof_capture *capture,
                         spanprof_frame *frames, size_t max, int *cut) {
  (void)data, (void)capture, (void)max;
  frames[0] = (spanprof_frame){.code = ++stuck_code};
  *cut = 0;
  return 1;
}

static spanprof_status stuck_resolve(void *data, const spanprof_frame *frame,
                                     spanprof_name *out) {
  (void)data, (void)frame, (void)out;
  resolving = true;
  while (resolve_blocked)
    usleep(1000);
  resolving = false;
  return SPANPROF_ERR_STATE;
}

/* Start a session, and take samples until the collector hangs in `resolve`. */
static spanprof_session *session_stuck(void) {
  spanprof_options options = options_given();
  spanprof_runtime runtime = {.struct_size = sizeof runtime,
                              .name = "stuck",
                              .walk = stuck_walk,
                              .resolve = stuck_resolve};
  spanprof_session *session;

  resolve_blocked = true;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  while (!resolving)
    burn_cpu_ms(10);
  return session;
}

static void fork_once(void) {
#if !defined(__SANITIZE_ADDRESS__)
  int status;
  pid_t child = fork();

  if (child == 0)
    _exit(0);
  CHECK_EQUAL(waitpid(child, &status, 0), child);
#else
  fprintf(stderr, "  skipped: with AddressSanitizer a fork waits for the "
                  "callback, see collector.c\n");
#endif
}

static void a_hanging_callback_blocks_no_flush_stop_or_fork(void) {
  spanprof_session *session = session_stuck();
  spanprof_options options;

  CHECK_EQUAL(spanprof_session_flush(session, 50), SPANPROF_ERR_TIMEOUT);
  fork_once();
  CHECK_EQUAL(spanprof_session_stop(session, 1000), SPANPROF_ERR_TIMEOUT);
  CHECK(strstr(spanprof_last_error(), "callback"));
  CHECK(resolving);
  spanprof_runtime_unregister();
  profiles_count_and_remove();
  options = options_given();
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  burn_cpu_ms(50);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(profiles_count_and_remove(), 1);
  resolve_blocked = false;
  /* Wait for the abandoned thread, which might call the runtime of the next
   * test. */
  CHECK(sp_own_threads_join_deferred(20 * SP_NS_PER_S));
}

static void a_third_start_waits_for_two_abandoned_threads(void) {
  spanprof_session *session;
  spanprof_options options;

  CHECK_EQUAL(spanprof_session_stop(session_stuck(), 0), SPANPROF_ERR_TIMEOUT);
  profiles_count_and_remove();
  resolving = false;
  options = options_given();
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  while (!resolving)
    burn_cpu_ms(10);
  CHECK_EQUAL(spanprof_session_stop(session, 0), SPANPROF_ERR_TIMEOUT);
  profiles_count_and_remove();
  options = options_given();
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_ERR_LIMIT);
  CHECK(strstr(spanprof_last_error(), "running threads"));
  resolve_blocked = false;
  while (spanprof_session_start(&options, &session) != SPANPROF_OK)
    usleep(1000);
  spanprof_runtime_unregister();
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  profiles_count_and_remove();
}

/* No fork hook runs in a child that the bare system call has made, and the
 * child has none of the library's threads. */
static void a_child_of_the_bare_system_call_can_exit(void) {
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  spanprof_options options = options_given();
  spanprof_session *session;
  int status;
  pid_t child;

  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    if (spanprof_session_current() || spanprof_session_running() ||
        spanprof_session_flush(session, 1000) != SPANPROF_ERR_STATE)
      _exit(1);
    exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  profiles_count_and_remove();
#else
  fprintf(stderr, "  skipped: a sanitizer's exit requires a fork by libc\n");
#endif
}

static const check_test tests[] = {
    {"a_hanging_callback_blocks_no_flush_stop_or_fork",
     a_hanging_callback_blocks_no_flush_stop_or_fork},
    {"a_third_start_waits_for_two_abandoned_threads",
     a_third_start_waits_for_two_abandoned_threads},
    {"a_child_of_the_bare_system_call_can_exit",
     a_child_of_the_bare_system_call_can_exit},
    {"threads_are_found_even_if_the_collector_starts_first",
     threads_are_found_even_if_the_collector_starts_first},
    {"an_unregistered_thread_is_found_within_200_ms",
     an_unregistered_thread_is_found_within_200_ms},
    {"one_session_runs_at_a_time", one_session_runs_at_a_time},
    {"a_stop_delivers_the_samples", a_stop_delivers_the_samples},
    {"a_flush_delivers_and_the_session_continues",
     a_flush_delivers_and_the_session_continues},
    {"a_failed_start_leaves_nothing_running",
     a_failed_start_leaves_nothing_running},
    {"the_environment_switches_profiling_off",
     the_environment_switches_profiling_off},
    {"a_session_starts_with_options_from_the_environment_alone",
     a_session_starts_with_options_from_the_environment_alone},
    {"a_server_that_opens_links_gets_urls",
     a_server_that_opens_links_gets_urls},
    {"the_log_has_no_credentials", the_log_has_no_credentials},
    {"the_log_callback_is_not_called_once_exit_handlers_run",
     the_log_callback_is_not_called_once_exit_handlers_run},
    {"a_forked_child_is_profiled", a_forked_child_is_profiled},
    {"a_fork_before_an_exec_is_not_affected",
     a_fork_before_an_exec_is_not_affected},
    {"a_log_callback_may_wait_for_callers",
     a_log_callback_may_wait_for_callers},
    {"a_session_without_destination_is_logged",
     a_session_without_destination_is_logged},
    {"stats_of_an_older_caller_are_filled_up_to_its_size",
     stats_of_an_older_caller_are_filled_up_to_its_size},
};

int main(int argc, char **argv) {
  atexit(log_must_be_silent); /* registered before the library's exit handler */
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
