#include "export/http/http_client.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "export_fixture.h"

static int broken[2];
static unsigned broken_writes;

static void *next_symbol(const char *name) {
  void *symbol = dlsym(RTLD_NEXT, name);

  CHECK(symbol != NULL);
  CHECK(write(broken[1], "", 1) == -1);
  broken_writes++;
  return symbol;
}

/* These functions replace libcurl's. Each writes to a closed pipe, as a TLS
 * library does if the peer has closed the connection. */
int curl_multi_perform(void *multi, int *running);
void curl_easy_cleanup(void *easy);

int curl_multi_perform(void *multi, int *running) {
  void *symbol = next_symbol("curl_multi_perform");
  int (*next)(void *, int *);

  memcpy(&next, &symbol, sizeof next);
  return next(multi, running);
}

void curl_easy_cleanup(void *easy) {
  void *symbol = next_symbol("curl_easy_cleanup");
  void (*next)(void *);

  memcpy(&next, &symbol, sizeof next);
  next(easy);
}

static void request_without_server(void) {
  sp_settings settings = usual_settings();
  test_clock test_time;
  sp_http_client *client;
  sp_http_answer answer;
  unsigned before;

  test_clock_init(&test_time, 1);
  CHECK(!sp_http_client_new(&client, &sp_mem_default, &settings,
                            &test_time.clock));
  before = broken_writes;
  sp_http_client_get(client, "http://127.0.0.1:1/ready", &answer);
  CHECK_EQUAL(answer.status, 0);
  CHECK(broken_writes > before);
  before = broken_writes;
  sp_http_client_free(client);
  CHECK(broken_writes > before);
}

static void a_broken_connection_does_not_end_the_program(void) {
  sigset_t set;

  request_without_server();
  CHECK(sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 0);
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0);
  CHECK_EQUAL(sigismember(&set, SIGPIPE), 0);
}

static void a_signal_that_was_pending_stays(void) {
  sigset_t set, before;

  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0);
  CHECK(pthread_kill(pthread_self(), SIGPIPE) == 0);
  request_without_server();
  CHECK(sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1);
  signal(SIGPIPE, SIG_IGN);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  signal(SIGPIPE, SIG_DFL);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_broken_connection_does_not_end_the_program",
       a_broken_connection_does_not_end_the_program},
      {"a_signal_that_was_pending_stays", a_signal_that_was_pending_stays},
  };

  CHECK(pipe(broken) == 0 && close(broken[0]) == 0);
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
