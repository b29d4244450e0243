#include "export/http/http_client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "export_fixture.h"

/* Duration of a call of libcurl in this test. A fork that waits for the call
 * happens after this time. */
#define INSIDE_NS (100 * SP_NS_PER_MS)

static _Atomic bool inside, forked;

/* Replaces libcurl's function, so that a test can fork during a call. */
int curl_multi_perform(void *multi, int *running);

int curl_multi_perform(void *multi, int *running) {
  const struct timespec step = {.tv_nsec = (long)SP_NS_PER_MS};
  const uint64_t until_ns = sp_monotonic_ns() + INSIDE_NS;
  void *symbol = dlsym(RTLD_NEXT, "curl_multi_perform");
  int (*next)(void *, int *), code;

  CHECK(symbol != NULL);
  memcpy(&next, &symbol, sizeof next);
  atomic_store(&inside, true);
  while (!atomic_load(&forked) && sp_monotonic_ns() < until_ns)
    nanosleep(&step, NULL);
  code = next(multi, running);
  atomic_store(&inside, false);
  return code;
}

static void *request_without_server(void *data) {
  sp_http_answer answer;

  sp_http_client_get(data, "http://127.0.0.1:1/ready", &answer);
  CHECK_EQUAL(answer.status, 0);
  return NULL;
}

/* If the fork did not wait, a lock of the TLS library could stay locked in the
 * child. */
static void a_fork_waits_for_threads_inside_libcurl(void) {
  sp_settings settings = usual_settings();
  test_clock test_time;
  sp_http_client *client;
  pthread_t thread;
  int status;
  pid_t pid;

  test_clock_init(&test_time, 1);
  CHECK(!sp_http_client_new(&client, &sp_mem_default, &settings,
                            &test_time.clock));
  CHECK_EQUAL(pthread_create(&thread, NULL, request_without_server, client), 0);
  while (!atomic_load(&inside))
    sched_yield();
  pid = fork();
  if (pid == 0)
    _exit(atomic_load(&inside));
  CHECK(pid > 0);
  atomic_store(&forked, true);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  sp_http_client_free(client);
}

/* The child can lock, although the parent held the lock of client_work.c for
 * the fork. */
static void a_forked_child_can_send_requests(void) {
  sp_settings settings = usual_settings();
  test_clock test_time;
  sp_http_client *client;
  int status;
  pid_t pid;

  test_clock_init(&test_time, 1);
  CHECK(!sp_http_client_new(&client, &sp_mem_default, &settings,
                            &test_time.clock));
  request_without_server(client);
  pid = fork();
  if (pid == 0) {
    request_without_server(client);
    _exit(0);
  }
  CHECK(pid > 0);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  request_without_server(client);
  sp_http_client_free(client);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_fork_waits_for_threads_inside_libcurl",
       a_fork_waits_for_threads_inside_libcurl},
      {"a_forked_child_can_send_requests", a_forked_child_can_send_requests},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
