#include "check.h"
#include "session/options.h"
#include "util/memory/buffer.h"

#include <signal.h>
#include <unistd.h>

static sp_settings settings;
static sp_buffer notes;

static char *const no_environment[] = {NULL};

static spanprof_status settings_of(const spanprof_options *options,
                                   char *const *environment) {
  sp_buffer_init(&notes, &sp_mem_default);
  return sp_settings_read(&settings, &sp_mem_default, options, environment,
                          &notes);
}

static void settings_end(void) {
  sp_settings_dispose(&settings);
  sp_buffer_dispose(&notes);
}

/* With this environment, spanprof_options_check() and spanprof_session_start()
 * fail with the same status and message. */
static void check_start_alike(const spanprof_options *options,
                              char *const *environment, spanprof_status status,
                              const char *sentence) {
  char **const before = environ;
  spanprof_session *session;

  environ = (char **)environment;
  CHECK_EQUAL(spanprof_options_check(options), status);
  CHECK_TEXT(spanprof_last_error(), sentence);
  CHECK_EQUAL(spanprof_session_start(options, &session), status);
  CHECK_TEXT(spanprof_last_error(), sentence);
  CHECK(session == NULL);
  environ = before;
}

static void check_refused(const spanprof_options *options,
                          char *const *environment, const char *sentence) {
  spanprof_status st = settings_of(options, environment);
  char whole[512];

  if (st != SPANPROF_ERR_ARGUMENT)
    CHECK_TEXT(spanprof_status_text(st), sentence);
  if (!strstr(spanprof_last_error(), sentence))
    CHECK_TEXT(spanprof_last_error(), sentence);
  CHECK(!strstr(spanprof_last_error(), "hunter2"));
  CHECK(!strchr(spanprof_last_error(), '\n'));
  settings_end();
  snprintf(whole, sizeof whole, "%s", spanprof_last_error());
  check_start_alike(options, environment, st, whole);
}

static void options_started(spanprof_options *options) {
  CHECK_EQUAL(spanprof_options_init(options, sizeof *options), SPANPROF_OK);
  options->application_name = "shop";
}

static void options_wrong_variables_are_refused_by_name(void) {
  static const struct {
    char *variable;
    const char *sentence; /* beginning of the error message */
  } table[] = {
      {"PYROSCOPE_APPLICATION_NAME=  ",
       "application_name (from PYROSCOPE_APPLICATION_NAME) is empty"},
      {"PYROSCOPE_APPLICATION_NAME=a\nb",
       "application_name (from PYROSCOPE_APPLICATION_NAME) has a control"},
      {"PYROSCOPE_LABELS=a-b=1",
       "labels (from PYROSCOPE_LABELS) has the label name \"a-b\""},
      {"PYROSCOPE_SAMPLE_RATE=0",
       "sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is 0, not within 1 to "
       "1000"},
      {"PYROSCOPE_SAMPLING_RATE=5000",
       "sample_rate_hz (from PYROSCOPE_SAMPLING_RATE) is 5000, not within"},
      {"PYROSCOPE_SAMPLE_RATE=-1",
       "sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is -1, not within"},
      {"PYROSCOPE_SAMPLE_RATE=18446744073709551716",
       "sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is 18446744073709551716, "
       "not within"},
      {"PYROSCOPE_SAMPLE_RATE=10x",
       "sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is \"10x\", not a whole"},
      {"PYROSCOPE_SAMPLE_RATE=1.5",
       "sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is \"1.5\", not a whole"},
      {"PYROSCOPE_SIGNAL=9", "signal_number (from PYROSCOPE_SIGNAL) is 9, not"},
      {"PYROSCOPE_SIGNAL=65", "signal_number (from PYROSCOPE_SIGNAL) is 65, "},
      {"PYROSCOPE_NATIVE_FRAMES=maybe",
       "native_frames (from PYROSCOPE_NATIVE_FRAMES) is \"maybe\", not none"},
      {"PYROSCOPE_SERVER_ADDRESS=localhost:4040",
       "server_address (from PYROSCOPE_SERVER_ADDRESS) is \"localhost:4040\""},
      {"PYROSCOPE_BASIC_AUTH_USER=u",
       "basic_auth_user (from PYROSCOPE_BASIC_AUTH_USER) is given without "
       "basic_auth_password"},
      {"PYROSCOPE_BASIC_AUTH_PASSWORD=hunter2",
       "basic_auth_password (from PYROSCOPE_BASIC_AUTH_PASSWORD) is given "
       "without basic_auth_user"},
      {"PYROSCOPE_AUTH_TOKEN=hunter2\n",
       "auth_token (from PYROSCOPE_AUTH_TOKEN) has a control character at"},
      {"PYROSCOPE_TENANT_ID=\xc3(",
       "tenant_id (from PYROSCOPE_TENANT_ID) is not valid UTF-8"},
      {"PYROSCOPE_HTTP_HEADERS=hunter2",
       "http_headers (from PYROSCOPE_HTTP_HEADERS) has no colon in header 1"},
      {"PYROSCOPE_CA_BUNDLE=/nowhere/ca.pem",
       "ca_bundle (from PYROSCOPE_CA_BUNDLE) cannot be read: "
       "/nowhere/ca.pem: No such file"},
      {"PYROSCOPE_CLIENT_CERT=/proc",
       "client_cert (from PYROSCOPE_CLIENT_CERT) cannot be read: /proc: Is a "
       "directory"},
      {"PYROSCOPE_CLIENT_KEY=/proc/self/status",
       "client_key (from PYROSCOPE_CLIENT_KEY) is given without client_cert"},
      {"PYROSCOPE_PROXY=gopher://u:hunter2@proxy",
       "proxy (from PYROSCOPE_PROXY) is not the URL of a proxy"},
      {"PYROSCOPE_UPLOAD_PROTOCOL=otlp",
       "upload_protocol (from PYROSCOPE_UPLOAD_PROTOCOL) is \"otlp\", not"},
      {"PYROSCOPE_UPLOAD_INTERVAL=99ms",
       "upload_interval_ms (from PYROSCOPE_UPLOAD_INTERVAL) is 99ms, not "
       "within 100 to 3600000 ms"},
      {"PYROSCOPE_UPLOAD_INTERVAL=2h",
       "upload_interval_ms (from PYROSCOPE_UPLOAD_INTERVAL) is 2h, not within"},
      {"PYROSCOPE_UPLOAD_INTERVAL=often",
       "upload_interval_ms (from PYROSCOPE_UPLOAD_INTERVAL) is \"often\", not "
       "a duration such as"},
      {"PYROSCOPE_QUEUE_BYTES=1",
       "queue_bytes (from PYROSCOPE_QUEUE_BYTES) is 1, not within 65536 to"},
      {"PYROSCOPE_OUTPUT_DIRECTORY=/proc/self/status",
       "output_directory (from PYROSCOPE_OUTPUT_DIRECTORY) cannot be written: "
       "/proc/self/status: Not a directory"},
      {"PYROSCOPE_SPOOL_DIRECTORY=/nowhere/spool",
       "spool_directory (from PYROSCOPE_SPOOL_DIRECTORY) cannot be created: "
       "/nowhere/spool: No such file or directory"},
      {"PYROSCOPE_SPOOL_DIRECTORY=/proc/self",
       "spool_directory (from PYROSCOPE_SPOOL_DIRECTORY) cannot be written"},
      {"PYROSCOPE_SPOOL_DIRECTORY=/tmp",
       "spool_directory (from PYROSCOPE_SPOOL_DIRECTORY) "},
      {"PYROSCOPE_OUTPUT_DIRECTORY=/tmp",
       "output_directory (from PYROSCOPE_OUTPUT_DIRECTORY) "},
      {"PYROSCOPE_SPOOL_MAX_AGE=0s",
       "spool_max_age_s (from PYROSCOPE_SPOOL_MAX_AGE) is 0s, not within"},
      {"PYROSCOPE_SPAN_NAMES_MAX=0",
       "span_names_max (from PYROSCOPE_SPAN_NAMES_MAX) is 0, not within"},
      {"PYROSCOPE_LOG_LEVEL=loud",
       "log_level (from PYROSCOPE_LOG_LEVEL) is \"loud\", not debug, info"},
      {"PYROSCOPE_AGENT_ENABLED=flase",
       "PYROSCOPE_AGENT_ENABLED is \"flase\", not true or false"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    char *const environment[] = {table[i].variable,
                                 "PYROSCOPE_APPLICATION_NAME=shop", NULL};

    check_refused(NULL, environment, table[i].sentence);
    CHECK(strncmp(spanprof_last_error(), table[i].sentence, 10) == 0);
  }
}

static void options_wrong_calls_are_refused_by_name(void) {
  static const struct {
    size_t offset;
    const char *text;
    int64_t number;
    const char *sentence; /* part of the error message */
  } table[] = {
#define TEXT_CASE(field, text, sentence) \
  {offsetof(spanprof_options, field), text, 0, sentence}
#define NUMBER_CASE(field, number, sentence) \
  { offsetof(spanprof_options, field), NULL, number, sentence }
      TEXT_CASE(application_name, "", "application_name is empty"),
      TEXT_CASE(application_name, "\xff", "application_name is not valid UTF"),
      TEXT_CASE(labels, "a", "labels has \"a\" where name=value is expected"),
      NUMBER_CASE(sample_rate_hz, 0, "sample_rate_hz is 0, not within 1 to"),
      NUMBER_CASE(sample_rate_hz, 5000, "sample_rate_hz is 5000, not within"),
      NUMBER_CASE(sample_rate_hz, INT64_MAX, "is 9223372036854775807, not"),
      NUMBER_CASE(signal_number, SIGSEGV, "signal_number is 11, not 0, 3"),
      NUMBER_CASE(native_frames, 3, "native_frames is 3, not within 0 to 2"),
      TEXT_CASE(server_address, "http://h/?a=1", "server_address has a ? or"),
      TEXT_CASE(output_directory, "/proc/1/nowhere", "output_directory cannot"),
      NUMBER_CASE(upload_interval_ms, 10, "upload_interval_ms is 10, not"),
      NUMBER_CASE(log_level, 5, "log_level is 5, not within 0 to 4"),
#undef TEXT_CASE
#undef NUMBER_CASE
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    spanprof_options options;

    options_started(&options);
    if (table[i].text)
      memcpy((char *)&options + table[i].offset, &table[i].text,
             sizeof table[i].text);
    else
      memcpy((char *)&options + table[i].offset, &table[i].number,
             sizeof table[i].number);
    check_refused(&options, no_environment, table[i].sentence);
  }
}

static void options_two_identities_are_refused(void) {
  static const struct {
    const char *address, *user, *password, *token, *headers, *sentence;
  } table[] = {
      {"http://h", "u", "hunter2", "hunter2", NULL,
       "auth_token and basic_auth_user are both given"},
      {"http://u:hunter2@h", NULL, NULL, "hunter2", NULL,
       "auth_token is given, and server_address contains a user and password"},
      {"http://u:hunter2@h", "v", "hunter2", NULL, NULL,
       "basic_auth_user and basic_auth_password differ from"},
      {"http://h", "u", "hunter2", NULL, "Authorization: hunter2",
       "http_headers has Authorization in addition to other credentials"},
      {"http://h", "u:v", "hunter2", NULL, NULL,
       "basic_auth_user has a colon in the user's name"},
      {"http://u%3Av:hunter2@h", NULL, NULL, NULL, NULL,
       "server_address has a colon in the user's name"},
  };
  spanprof_options options;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    options_started(&options);
    options.server_address = table[i].address;
    options.basic_auth_user = table[i].user;
    options.basic_auth_password = table[i].password;
    options.auth_token = table[i].token;
    options.http_headers = table[i].headers;
    check_refused(&options, no_environment, table[i].sentence);
  }
  options_started(&options);
  options.tenant_id = "a";
  options.http_headers = "x-scope-orgid: b";
  check_refused(&options, no_environment,
                "has X-Scope-OrgID in addition to tenant_id");
}

static void options_signal_with_another_handler_is_refused(void) {
  struct sigaction ours, theirs = {.sa_handler = SIG_IGN};
  const int number = SIGRTMIN + 3;
  spanprof_session *session;
  spanprof_options options;
  char sentence[160];

  options_started(&options);
  options.signal_number = number;
  options.log_level = SPANPROF_LOG_OFF;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_OK);
  CHECK_EQUAL(sigaction(number, &theirs, &ours), 0);
  snprintf(
      sentence, sizeof sentence,
      "another handler has replaced spanprof's for signal %d since the last "
      "session; set the option signal_number to another signal",
      number);
  check_start_alike(&options, no_environment, SPANPROF_ERR_SYSTEM, sentence);
  CHECK_EQUAL(sigaction(number, &ours, NULL), 0);
}

static void options_no_free_signal_is_refused(void) {
  spanprof_options options;
  int i;

  options_started(&options);
  for (i = SIGRTMIN; i <= SIGRTMAX; i++)
    signal(i, SIG_IGN);
  check_start_alike(&options, no_environment, SPANPROF_ERR_SYSTEM,
                    "no real-time signal is free; set the option signal_number "
                    "to a signal that the program does not use");
  for (i = SIGRTMIN; i <= SIGRTMAX; i++)
    signal(i, SIG_DFL);
}

static void options_disabled_profiler_has_its_own_status(void) {
  static char *const off[] = {"PYROSCOPE_AGENT_ENABLED=no", NULL};
  spanprof_options options;

  options_started(&options);
  options.sample_rate_hz = 0;
  check_start_alike(&options, off, SPANPROF_ERR_DISABLED,
                    "profiling is off: PYROSCOPE_AGENT_ENABLED is false");
}

static void options_of_another_size_are_refused(void) {
  spanprof_options options;
  char sentence[512];

  options_started(&options);
  options.struct_size = sizeof options + 8;
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_ERR_ARGUMENT);
  snprintf(sentence, sizeof sentence, "%s", spanprof_last_error());
  CHECK(strstr(sentence, "call spanprof_options_init()") != NULL);
  check_start_alike(&options, no_environment, SPANPROF_ERR_ARGUMENT, sentence);
}

/* A check changes neither a running session nor its counters. */
static void options_checks_change_no_session(void) {
  spanprof_stats before = {.struct_size = sizeof before}, after = before;
  spanprof_session *session;
  spanprof_options options, wrong;

  options_started(&options);
  options.labels = "pod-name=a";
  options.clean_label_names = 1;
  options.log_level = SPANPROF_LOG_OFF;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  CHECK_EQUAL(spanprof_stats_get(&before), SPANPROF_OK);
  CHECK_EQUAL(before.labels_cleaned, 1);
  options_started(&wrong);
  wrong.sample_rate_hz = 0;
  CHECK_EQUAL(spanprof_options_check(&wrong), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_options_check(&options), SPANPROF_OK);
  CHECK(spanprof_session_current() == session);
  CHECK_EQUAL(spanprof_stats_get(&after), SPANPROF_OK);
  CHECK_EQUAL(after.labels_cleaned, 1);
  CHECK(after.samples_taken >= before.samples_taken);
  CHECK_EQUAL(spanprof_session_stop(session, 20000), SPANPROF_OK);
  CHECK_EQUAL(spanprof_stats_get(&before), SPANPROF_OK);
  CHECK_EQUAL(spanprof_session_start(&wrong, &session), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_stats_get(&after), SPANPROF_OK);
  CHECK_EQUAL(memcmp(&before, &after, sizeof after), 0);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"wrong variables are refused by name",
       options_wrong_variables_are_refused_by_name},
      {"wrong calls are refused by name",
       options_wrong_calls_are_refused_by_name},
      {"two identities are refused", options_two_identities_are_refused},
      {"a signal with another handler is refused",
       options_signal_with_another_handler_is_refused},
      {"no free signal is refused", options_no_free_signal_is_refused},
      {"the disabled profiler has its own status",
       options_disabled_profiler_has_its_own_status},
      {"another size is refused", options_of_another_size_are_refused},
      {"checks change no session", options_checks_change_no_session},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
