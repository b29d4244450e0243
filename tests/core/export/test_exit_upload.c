/* A process that ends normally uploads its last window over TLS. The TLS
 * library has an exit handler, which must not run before spanprof's. */
#include <spanprof/spanprof.h>

#include <sys/wait.h>

#include "burn.h"
#include "export_fixture.h"
#include "sink_process.h"

/* Run a first session without a server, which does not initialize the TLS
 * library. */
static void work_without_server(void) {
  spanprof_options options;
  spanprof_session *session;

  CHECK(!spanprof_options_init(&options, sizeof options));
  CHECK(!spanprof_session_start(&options, &session));
  spanprof_session_stop(session, 1000);
}

/* The program that the test runs: it profiles work and returns from main(). */
static int end_after_work(const char *address, const char *ca_bundle) {
  spanprof_options options;
  spanprof_session *session;

  work_without_server();
  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = "ends";
  options.server_address = address;
  options.ca_bundle = ca_bundle;
  CHECK(!spanprof_session_start(&options, &session));
  burn_cpu_ms(500);
  return 0;
}

static int run_program(const char *address, const char *ca_bundle) {
  pid_t pid = fork();
  int status;

  CHECK(pid >= 0);
  if (pid == 0) {
    execl("/proc/self/exe", "test_exit_upload", "--program", address, ca_bundle,
          (char *)NULL);
    _exit(127);
  }
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  return status;
}

static void the_last_window_is_uploaded_over_tls(void) {
  char directory[64], command[1024], certificate[128], key[128];
  const char *arguments[] = {"--cert", certificate, "--key", key, NULL};
  sink_process sink;

  directory_new(directory);
  snprintf(certificate, sizeof certificate, "%s/server.pem", directory);
  snprintf(key, sizeof key, "%s/server.key", directory);
  snprintf(
      command, sizeof command,
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=sink "
      "-addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s >/dev/null 2>&1",
      key, certificate);
  CHECK_EQUAL(system(command), 0);
  sink_start(&sink, "https", arguments);
  CHECK_EQUAL(run_program(sink.address, certificate), 0);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 1);
  CHECK(sink_number(&sink, "value") > 0);
  sink_stop(&sink);
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_last_window_is_uploaded_over_tls",
       the_last_window_is_uploaded_over_tls},
  };

  if (argc == 4 && strcmp(argv[1], "--program") == 0)
    return end_after_work(argv[2], argv[3]);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
