/* When the last thread of the program ends, the process delivers its samples
 * and ends, although the library's threads still run. */
#include <spanprof/spanprof.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "burn.h"
#include "export_fixture.h"

#define EXCLUDED_ANSWER 7

static void profile_into(const char *directory) {
  spanprof_options options;
  spanprof_session *session;

  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = "ends";
  options.output_directory = directory;
  options.upload_interval_ms = 3600000; /* only one window, even on a slow
                                         * machine */
  CHECK(!spanprof_session_start(&options, &session));
}

static void *burn_and_return(void *nothing) {
  burn_cpu_ms(1000);
  return nothing;
}

/* main() calls pthread_exit(). Another thread returns later. */
static int main_leaves(const char *directory) {
  pthread_t thread;

  profile_into(directory);
  CHECK(!pthread_create(&thread, NULL, burn_and_return, NULL));
  pthread_exit(NULL);
}

static void *burn_excluded(void *nothing) {
  spanprof_thread_exclude(1);
  burn_cpu_ms(2500);
  exit(EXCLUDED_ANSWER);
  return nothing;
}

/* main() calls pthread_exit(). A thread that is excluded from sampling returns
 * later. */
static int excluded_stays(const char *directory) {
  pthread_t thread;

  profile_into(directory);
  CHECK(!pthread_create(&thread, NULL, burn_excluded, NULL));
  pthread_exit(NULL);
}

static void *fork_and_return(void *nothing) {
  pid_t pid = fork();
  int status;

  CHECK(pid >= 0);
  burn_cpu_ms(500);
  if (pid > 0) {
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK_EQUAL(status, 0);
  }
  return nothing;
}

/* A thread forks and returns in both processes. */
static int thread_forks(const char *directory) {
  pthread_t thread;

  profile_into(directory);
  CHECK(!pthread_create(&thread, NULL, fork_and_return, NULL));
  CHECK(!pthread_join(thread, NULL));
  return 0;
}

/* Run the program `name`, check that it exits with `answer`, and return the
 * number of its profiles. */
static size_t profiles_left(const char *name, int answer) {
  char directory[64];
  size_t count;
  int status;
  pid_t pid;

  directory_new(directory);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    execl("/proc/self/exe", "test_last_thread", "--program", name, directory,
          (char *)NULL);
    _exit(127);
  }
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), answer);
  count = directory_count(directory, ".pb.gz");
  directory_remove(directory);
  return count;
}

static void a_process_without_main_thread_ends_with_its_last_thread(void) {
  CHECK_EQUAL(profiles_left("main", 0), 1);
}

static void a_child_forked_by_a_thread_ends_with_that_thread(void) {
  CHECK_EQUAL(profiles_left("fork", 0), 2);
}

static void an_excluded_thread_keeps_the_process_alive(void) {
  (void)profiles_left("excluded", EXCLUDED_ANSWER);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_process_without_main_thread_ends_with_its_last_thread",
       a_process_without_main_thread_ends_with_its_last_thread},
      {"a_child_forked_by_a_thread_ends_with_that_thread",
       a_child_forked_by_a_thread_ends_with_that_thread},
      {"an_excluded_thread_keeps_the_process_alive",
       an_excluded_thread_keeps_the_process_alive},
  };

  if (argc == 4 && strcmp(argv[1], "--program") == 0) {
    if (strcmp(argv[2], "main") == 0)
      return main_leaves(argv[3]);
    if (strcmp(argv[2], "excluded") == 0)
      return excluded_stays(argv[3]);
    return thread_forks(argv[3]);
  }
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
