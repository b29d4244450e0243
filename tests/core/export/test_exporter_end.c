/* If the server is down, a process tries once more to upload before it ends. A
 * forked child does not try if its parent knows that the server is down. The
 * clock of these tests stands still, so no backoff ends and no deadline passes.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/exporter_state.h"
#include "exporter_fixture.h"

/* Replaces the name lookup in libcurl, because the program's symbols have
 * priority over those of libc. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **result) {
  static struct sockaddr_in address;
  static struct addrinfo found = {.ai_family = AF_INET,
                                  .ai_socktype = SOCK_STREAM,
                                  .ai_addrlen = sizeof address,
                                  .ai_addr = (struct sockaddr *)&address};

  (void)hints;
  if (!node || inet_pton(AF_INET, node, &address.sin_addr) != 1)
    return EAI_NONAME;
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)(service ? atoi(service) : 0));
  *result = malloc(sizeof found);
  CHECK(*result);
  **result = found;
  return 0;
}

void freeaddrinfo(struct addrinfo *list) {
  free(list);
}

/* Wait until the exporter's first try has failed. The clock stands still, so
 * the exporter never tries again by itself. */
static void await_failed_try(sp_exporter *exporter) {
  bool failed = false;

  while (!failed) {
    sched_yield();
    pthread_mutex_lock(&exporter->lock);
    failed = exporter->backoff_until_ns != 0;
    pthread_mutex_unlock(&exporter->lock);
  }
}

static void one_try_is_made(char *address, const char *mode) {
  sp_exporter *exporter;

  begin(0);
  if (address)
    test_settings.server_address = address;
  sink_control(&sink, "%s", mode);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  push(exporter);
  await_failed_try(exporter);
  CHECK_EQUAL(stats().profiles_retried, 0);
  sp_exporter_retry_now(exporter);
  CHECK_EQUAL(sp_exporter_flush_once(exporter, in_s(600)), SPANPROF_ERR_IO);
  CHECK_EQUAL(stats().samples_pending, pushed_samples);
  CHECK_EQUAL(stats().profiles_retried, 1);
  /* Each call of sp_exporter_retry_now() causes one try, so this is the second
   * one. */
  sp_exporter_retry_now(exporter);
  CHECK_EQUAL(sp_exporter_flush_once(exporter, in_s(600)), SPANPROF_ERR_IO);
  CHECK_EQUAL(stats().profiles_retried, 2);
  stop(exporter, SPANPROF_ERR_TIMEOUT);
}

static void the_end_of_a_process_waits_for_one_try(void) {
  one_try_is_made((char *)"http://127.0.0.1:1", "{\"mode\": \"ok\"}");
  one_try_is_made((char *)"http://missing.invalid:4040", "{\"mode\": \"ok\"}");
  one_try_is_made(NULL, "{\"mode\": \"status\", \"status\": 503}");
}

static void the_end_of_a_process_delivers_all_to_a_server_or_spool(void) {
  char directory[64];
  sp_exporter *exporter;

  begin(0);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush_once(exporter, in_s(600)));
  CHECK_EQUAL(sink_number(&sink, "profiles"), 1);
  stop(exporter, SPANPROF_OK);

  begin(0);
  test_settings.server_address = (char *)"http://127.0.0.1:1";
  test_settings.spool_directory = directory_new(directory);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  push(exporter);
  CHECK(!sp_exporter_flush_once(exporter, in_s(600)));
  CHECK_EQUAL(stats().profiles_spooled, 2);
  stop(exporter, SPANPROF_OK);
  directory_remove(directory);
}

static void a_backoff_of_the_server_is_not_shortened(void) {
  sp_exporter *exporter;

  begin(0);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 429, "
                      "\"retry_after\": 300}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK_EQUAL(sp_exporter_flush_once(exporter, in_s(600)), SPANPROF_ERR_IO);
  sp_exporter_retry_now(exporter);
  CHECK_EQUAL(sp_exporter_flush_once(exporter, in_s(600)), SPANPROF_ERR_IO);
  CHECK_EQUAL(sink_number(&sink, "requests"), 1);
  stop(exporter, SPANPROF_ERR_TIMEOUT);
}

#if CHECK_FORKS
/* What a forked child does if its parent knows that the server is down: it
 * pushes a profile and ends without a request, by a stop, or by a flush and a
 * stop. */
static void child_ends(sp_exporter *exporter, bool by_stop) {
  sp_exporter_after_fork_child(exporter);
  sp_log_after_fork(&test_log);
  sp_counters_reset();
  pushed_samples = pushed_ticks = 0;
  push(exporter);
  sp_exporter_retry_now(exporter);
  if (!by_stop)
    CHECK_EQUAL(sp_exporter_flush_once(exporter, in_s(600)),
                test_settings.spool_directory ? SPANPROF_OK : SPANPROF_ERR_IO);
  stop(exporter,
       test_settings.spool_directory ? SPANPROF_OK : SPANPROF_ERR_TIMEOUT);
  CHECK_EQUAL(stats().profiles_spooled, test_settings.spool_directory ? 1 : 0);
  _exit(7);
}

static void forked_child_sends_nothing(bool by_stop) {
  sp_exporter *exporter = exporter_of(&sp_mem_default);
  long long asked;
  int status, i;

  push(exporter);
  if (test_settings.spool_directory)
    CHECK(!sp_exporter_flush_once(exporter, in_s(600)));
  else
    CHECK_EQUAL(sp_exporter_flush_once(exporter, in_s(600)), SPANPROF_ERR_IO);
  asked = sink_number(&sink, "requests");
  CHECK_EQUAL(asked, 1);
  for (i = 0; i < 3; i++) {
    pid_t pid;

    sp_exporter_before_fork(exporter);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
      child_ends(exporter, by_stop);
    sp_exporter_after_fork_parent(exporter);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_EQUAL(sink_number(&sink, "requests"), asked);
  }
  sp_exporter_stop(exporter, in_s(20));
}

static void a_forked_child_knows_that_the_server_is_down(void) {
  char directory[64];
  int by_stop;

  for (by_stop = 0; by_stop < 2; by_stop++) {
    begin(0);
    sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
    forked_child_sends_nothing(by_stop);
    begin(0);
    sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
    test_settings.spool_directory = directory_new(directory);
    forked_child_sends_nothing(by_stop);
    directory_remove(directory);
  }
}

/* Fork a child that pushes a profile, flushes it once until `until_ns` with the
 * status `expected`, and exits. */
static void child_tries(sp_exporter *exporter, uint64_t until_ns,
                        spanprof_status expected) {
  int status;
  pid_t pid;

  sp_exporter_before_fork(exporter);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    sp_exporter_after_fork_child(exporter);
    sp_log_after_fork(&test_log);
    push(exporter);
    CHECK_EQUAL(sp_exporter_flush_once(exporter, until_ns), expected);
    if (expected == SPANPROF_ERR_TIMEOUT)
      sp_exporter_mark_unanswered(exporter);
    _exit(7);
  }
  sp_exporter_after_fork_parent(exporter);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* After one child has found that the server is down, the next children send no
 * request. Their parent has sent nothing. */
static void a_child_learns_from_other_children(void) {
  sp_exporter *exporter;
  int i;

  begin(0);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 3; i++)
    child_tries(exporter, in_s(600), SPANPROF_ERR_IO);
  CHECK_EQUAL(sink_number(&sink, "requests"), 1);
  stop(exporter, SPANPROF_OK);

  begin(1);
  sink_control(&sink, "{\"mode\": \"hang\"}");
  exporter = exporter_of(&sp_mem_default);
  child_tries(exporter, in_s(2), SPANPROF_ERR_TIMEOUT);
  child_tries(exporter, in_s(600), SPANPROF_ERR_IO);
  CHECK(sink_number(&sink, "requests") <= 1);
  stop(exporter, SPANPROF_OK);
}

/* A request that has had no answer for 3 s counts as a failure. */
static void a_forked_child_knows_of_a_request_that_hangs(void) {
  const struct timespec wait = {0, 10000000};
  sp_exporter *exporter;
  int status;
  pid_t pid;

  begin(0);
  sink_control(&sink, "{\"mode\": \"hang\"}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  while (sink_number(&sink, "requests") == 0)
    nanosleep(&wait, NULL);
  test_time.jumped_ns += 3 * SP_NS_PER_S;
  sp_exporter_before_fork(exporter);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    child_ends(exporter, false);
  sp_exporter_after_fork_parent(exporter);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK_EQUAL(sink_number(&sink, "requests"), 1);
  sink_control(&sink, "{\"reset\": true}");
  sp_exporter_stop(exporter, 0);
}
#endif

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"the_end_of_a_process_waits_for_one_try",
     the_end_of_a_process_waits_for_one_try},
    {"the_end_of_a_process_delivers_all_to_a_server_or_spool",
     the_end_of_a_process_delivers_all_to_a_server_or_spool},
    {"a_backoff_of_the_server_is_not_shortened",
     a_backoff_of_the_server_is_not_shortened},
#if CHECK_FORKS
    {"a_forked_child_knows_that_the_server_is_down",
     a_forked_child_knows_that_the_server_is_down},
    {"a_child_learns_from_other_children", a_child_learns_from_other_children},
    {"a_forked_child_knows_of_a_request_that_hangs",
     a_forked_child_knows_of_a_request_that_hangs},
#endif
  };
  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
