#include "export/http/client_sockets.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "export/http/http_client.h"
#include "export_fixture.h"
#include "sink_process.h"

static test_clock test_time;
static sink_process sink;

static long post(sp_http_client *client) {
  char url[256];
  sp_http_request request = {
      .url = url, .content_type = "application/proto", .body = "", .size = 0};
  sp_http_answer answer;

  snprintf(url, sizeof url, "%s/push.v1.PusherService/Push", sink.address);
  sp_http_client_post(client, &request, &answer);
  return answer.status;
}

static size_t descriptors(void) {
  return directory_count("/proc/self/fd", "");
}

static sp_http_client *client_of(const sp_settings *settings) {
  sp_http_client *client;

  CHECK(!sp_http_client_new(&client, &sp_mem_default, settings,
                            &test_time.clock));
  return client;
}

/* Fork `left` generations of children, each with a connection of its own.
 * Returns the number of descriptors that the last generation has inherited and
 * not closed. */
static int generation(const sp_settings *settings, sp_http_client *parents,
                      size_t before, int left) {
  sp_http_client *client;
  int status;
  pid_t pid;

  sp_http_client_abandon(parents);
  if (left == 0)
    return (int)(descriptors() - before);
  client = client_of(settings);
  CHECK_EQUAL(post(client), 400);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    _exit(generation(settings, client, before, left - 1));
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  /* The connection of this process still works. */
  CHECK_EQUAL(post(client), 400);
  sp_http_client_free(client);
  return WEXITSTATUS(status);
}

static void forked_children_inherit_no_descriptors(void) {
  sp_settings settings = usual_settings();
  size_t before = descriptors();
  sp_http_client *client = client_of(&settings);
  long long connections;
  int status;
  pid_t pid;

  CHECK_EQUAL(post(client), 400);
  CHECK(descriptors() > before);
  connections = sink_number(&sink, "connections");
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    _exit(generation(&settings, client, before, 3));
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(WEXITSTATUS(status), 0);
  CHECK(WIFEXITED(status));
  /* The first connection is still open, because only the three children have
   * opened new connections since (the control port uses one more). */
  CHECK_EQUAL(post(client), 400);
  CHECK_EQUAL(sink_number(&sink, "connections"), connections + 4);
  sp_http_client_free(client);
  CHECK_EQUAL(descriptors(), before);
}

/* The child closes all its descriptors and reuses their numbers. The library
 * must not close the new descriptors. */
static void reused_descriptors_stay_open(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  int status;
  pid_t pid;

  CHECK_EQUAL(post(client), 400);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    int fd, other = open("/dev/null", O_RDONLY);
    size_t open_before;

    for (fd = 3; fd < 64; fd++)
      dup2(other, fd);
    open_before = descriptors();
    sp_http_client_abandon(client);
    _exit(descriptors() != open_before);
  }
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  sp_http_client_free(client);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"forked_children_inherit_no_descriptors",
       forked_children_inherit_no_descriptors},
      {"reused_descriptors_stay_open", reused_descriptors_stay_open},
  };
  int failed;

  test_clock_init(&test_time, 1);
  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
