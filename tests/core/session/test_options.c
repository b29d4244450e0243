#include "check.h"
#include "failing_mem.h"
#include "session/options.h"
#include "util/memory/buffer.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static sp_settings settings;
static sp_buffer notes;

/* A directory that all tests of this program use. Each test leaves it empty. */
static char scratch[64];

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

static void check_refused(const spanprof_options *options,
                          char *const *environment, const char *sentence) {
  spanprof_status st = settings_of(options, environment);

  if (st != SPANPROF_ERR_ARGUMENT)
    CHECK_TEXT(spanprof_status_text(st), sentence);
  if (!strstr(spanprof_last_error(), sentence))
    CHECK_TEXT(spanprof_last_error(), sentence);
  CHECK(!strstr(spanprof_last_error(), "hunter2"));
  CHECK(!strchr(spanprof_last_error(), '\n'));
  settings_end();
}

static void options_started(spanprof_options *options) {
  CHECK_EQUAL(spanprof_options_init(options, sizeof *options), SPANPROF_OK);
  options->application_name = "shop";
}

static void options_with_only_a_name_have_defaults(void) {
  spanprof_options options;

  options_started(&options);
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK_TEXT(settings.application_name, "shop");
  CHECK_EQUAL(settings.label_count, 0);
  CHECK_EQUAL(settings.sample_rate_hz, 100);
  CHECK_EQUAL(settings.signal_number, 0);
  CHECK(settings.native_frames);
  CHECK(!settings.report_pid && !settings.report_thread_id);
  CHECK(!settings.report_thread_name);
  CHECK(!settings.server_address && !settings.proxy && !settings.no_proxy);
  CHECK(!settings.output_directory && !settings.spool_directory);
  CHECK_EQUAL(settings.protocol, SP_PROTOCOL_PUSH);
  CHECK_EQUAL(settings.upload_interval_ms, 10000);
  CHECK_EQUAL(settings.queue_bytes, 8388608);
  CHECK_EQUAL(settings.output_max_bytes, 1 << 30);
  CHECK_EQUAL(settings.output_max_age_s, 604800);
  CHECK_EQUAL(settings.spool_max_bytes, 64 << 20);
  CHECK_EQUAL(settings.spool_max_age_s, 2700);
  CHECK_EQUAL(settings.span_names_max, 500);
  CHECK_EQUAL(settings.label_values_max, 1024);
  CHECK_EQUAL(settings.log_level, SPANPROF_LOG_WARN);
  CHECK_EQUAL(notes.size, 0);
  settings_end();
}

static void options_environment_alone_sets_all(void) {
  char *const environment[] = {
      "PYROSCOPE_APPLICATION_NAME= shop ",
      "PYROSCOPE_LABELS=region=eu,host=web-1",
      "PYROSCOPE_RESOURCE_LABELS=k8s.pod.name",
      "OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=p1,service.name=other",
      "PYROSCOPE_SAMPLE_RATE=250",
      "PYROSCOPE_SIGNAL=27",
      "PYROSCOPE_NATIVE_FRAMES=off",
      "PYROSCOPE_SERVER_ADDRESS=https://profiles.example.com/",
      "PYROSCOPE_BASIC_AUTH_USER=user",
      "PYROSCOPE_BASIC_AUTH_PASSWORD=pass",
      "PYROSCOPE_TENANT_ID=team-a",
      "PYROSCOPE_HTTP_HEADERS={\"X-A\":\"b\"}",
      "PYROSCOPE_CA_BUNDLE=/proc/self/status",
      "PYROSCOPE_CLIENT_CERT=/proc/self/status",
      "PYROSCOPE_CLIENT_KEY=/proc/self/status",
      "PYROSCOPE_PROXY=http://proxy:3128",
      "PYROSCOPE_NO_PROXY=localhost",
      "PYROSCOPE_UPLOAD_PROTOCOL=ingest",
      "PYROSCOPE_UPLOAD_INTERVAL=500ms",
      "PYROSCOPE_QUEUE_BYTES=65536",
      "PYROSCOPE_OUTPUT_MAX_BYTES=100000",
      "PYROSCOPE_OUTPUT_MAX_AGE=2d",
      "PYROSCOPE_SPOOL_MAX_BYTES=200000",
      "PYROSCOPE_SPOOL_MAX_AGE=30m",
      "PYROSCOPE_SPAN_NAMES_MAX=7",
      "PYROSCOPE_LABEL_VALUES_MAX=9",
      "PYROSCOPE_LOG_LEVEL=Debug",
      "PYROSCOPE_CLEAN_LABEL_NAMES=on",
      "PYROSCOPE_REPORT_PID=true",
      "PYROSCOPE_REPORT_THREAD_ID=1",
      "PYROSCOPE_REPORT_THREAD_NAME=yes",
      NULL};

  CHECK_EQUAL(settings_of(NULL, environment), SPANPROF_OK);
  CHECK_TEXT(settings.application_name, "shop");
  CHECK_EQUAL(settings.label_count, 3);
  CHECK_TEXT(settings.labels[0].name, "k8s_pod_name");
  CHECK_TEXT(settings.labels[2].value, "web-1");
  CHECK_EQUAL(settings.sample_rate_hz, 250);
  CHECK_EQUAL(settings.signal_number, SIGPROF);
  CHECK(!settings.native_frames);
  CHECK(settings.report_pid && settings.report_thread_id);
  CHECK(settings.report_thread_name);
  CHECK_TEXT(settings.server_address, "https://profiles.example.com");
  CHECK_TEXT(settings.basic_auth_user, "user");
  CHECK_TEXT(settings.basic_auth_password, "pass");
  CHECK_TEXT(settings.tenant_id, "team-a");
  CHECK_EQUAL(settings.header_count, 1);
  CHECK_TEXT(settings.headers[0], "X-A: b");
  CHECK_TEXT(settings.ca_bundle, "/proc/self/status");
  CHECK_TEXT(settings.client_cert, "/proc/self/status");
  CHECK_TEXT(settings.client_key, "/proc/self/status");
  CHECK_TEXT(settings.proxy, "http://proxy:3128");
  CHECK_TEXT(settings.no_proxy, "localhost");
  CHECK_EQUAL(settings.protocol, SP_PROTOCOL_INGEST);
  CHECK_EQUAL(settings.upload_interval_ms, 500);
  CHECK_EQUAL(settings.queue_bytes, 65536);
  CHECK_EQUAL(settings.output_max_bytes, 100000);
  CHECK_EQUAL(settings.output_max_age_s, 2 * 86400);
  CHECK_EQUAL(settings.spool_max_bytes, 200000);
  CHECK_EQUAL(settings.spool_max_age_s, 1800);
  CHECK_EQUAL(settings.span_names_max, 7);
  CHECK_EQUAL(settings.label_values_max, 9);
  CHECK_EQUAL(settings.log_level, SPANPROF_LOG_DEBUG);
  CHECK_EQUAL(notes.size, 0);
  settings_end();
}

static void options_call_takes_precedence_over_environment(void) {
  char *const environment[] = {"PYROSCOPE_APPLICATION_NAME=other",
                               "PYROSCOPE_SAMPLE_RATE=nonsense",
                               "PYROSCOPE_SERVER_ADDRESS=http://other:4040",
                               "PYROSCOPE_LABELS=a=1",
                               "PYROSCOPE_PROXY=http://proxy:3128",
                               "PYROSCOPE_NATIVE_FRAMES=1",
                               NULL};
  spanprof_options options;

  options_started(&options);
  options.sample_rate_hz = 10;
  options.server_address = "http://here:4040";
  options.labels = "b=2";
  options.proxy = "";
  options.native_frames = 0;
  CHECK_EQUAL(settings_of(&options, environment), SPANPROF_OK);
  CHECK_TEXT(settings.application_name, "shop");
  CHECK_EQUAL(settings.sample_rate_hz, 10);
  CHECK_TEXT(settings.server_address, "http://here:4040");
  CHECK_EQUAL(settings.label_count, 1);
  CHECK_TEXT(settings.labels[0].name, "b");
  CHECK(!settings.proxy);
  CHECK(!settings.native_frames);
  settings_end();
  options.server_address = "";
  CHECK_EQUAL(settings_of(&options, environment), SPANPROF_OK);
  CHECK(!settings.server_address);
  settings_end();
}

static void options_java_names_and_syntax_are_accepted(void) {
  char *const environment[] = {
      "PYROSCOPE_APPLICATION_NAME=shop", "PYROSCOPE_SAMPLING_RATE=50",
      "PYROSCOPE_UPLOAD_INTERVAL=15s",
      "PYROSCOPE_HTTP_HEADERS={\"X-A\":\"b,c\"}", NULL};
  char *const share[] = {"PYROSCOPE_APPLICATION_NAME=shop",
                         "PYROSCOPE_SAMPLING_RATE=0.5", NULL};

  CHECK_EQUAL(settings_of(NULL, environment), SPANPROF_OK);
  CHECK_EQUAL(settings.sample_rate_hz, 50);
  CHECK_EQUAL(settings.upload_interval_ms, 15000);
  CHECK_TEXT(settings.headers[0], "X-A: b,c");
  settings_end();
  CHECK_EQUAL(settings_of(NULL, share), SPANPROF_OK);
  CHECK_EQUAL(settings.sample_rate_hz, 100);
  CHECK_TEXT(notes.data, "PYROSCOPE_SAMPLING_RATE is a fraction of time, not "
                         "a rate, and is ignored\n");
  settings_end();
}

static void options_name_defaults_to_opentelemetry(void) {
  char *const environment[] = {
      "PYROSCOPE_APPLICATION_NAME=", "OTEL_SERVICE_NAME=shop",
      "OTEL_RESOURCE_ATTRIBUTES=service.namespace=eu", NULL};
  char *const bad[] = {"OTEL_SERVICE_NAME=\xff", NULL};

  CHECK_EQUAL(settings_of(NULL, environment), SPANPROF_OK);
  CHECK_TEXT(settings.application_name, "shop");
  CHECK_EQUAL(settings.label_count, 1);
  CHECK_TEXT(settings.labels[0].name, "service_namespace");
  settings_end();
  check_refused(NULL, bad,
                "application_name (from OTEL_SERVICE_NAME) is not valid UTF-8");
}

static void options_without_a_name_use_the_executable(void) {
  CHECK_EQUAL(settings_of(NULL, no_environment), SPANPROF_OK);
  CHECK_TEXT(settings.application_name, "unknown_service:test_options");
  CHECK(settings.name_open);
  settings_end();
}

static void options_label_pairs_take_precedence_and_may_have_commas(void) {
  static const spanprof_label_pair pairs[] = {{"a", "x,y=z"},
                                              {"service_tier", "1"}};
  static const spanprof_label_pair broken[] = {{"a", NULL}};
  spanprof_options options;

  options_started(&options);
  options.labels = "a=1,b=2";
  options.label_pairs = pairs;
  options.label_pair_count = 2;
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK_EQUAL(settings.label_count, 3);
  CHECK_TEXT(settings.labels[0].value, "x,y=z");
  CHECK_EQUAL(notes.size, 0);
  settings_end();
  options.label_pairs = broken;
  options.label_pair_count = 1;
  check_refused(&options, no_environment,
                "label_pairs has no name or value at index 0");
  options.label_pairs = NULL;
  check_refused(&options, no_environment, "label_pairs is NULL");
}

static void options_credentials_of_the_address_become_basic_auth(void) {
  spanprof_options options;

  options_started(&options);
  options.server_address = "https://u:p%40ss@h:4040/x/";
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK_TEXT(settings.server_address, "https://h:4040/x");
  CHECK_TEXT(settings.basic_auth_user, "u");
  CHECK_TEXT(settings.basic_auth_password, "p@ss");
  settings_end();
  options.basic_auth_user = "u";
  options.basic_auth_password = "p@ss";
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  settings_end();
}

static void options_proxy_follows_the_servers_scheme(void) {
  static const struct {
    const char *address;
    char *environment[4];
    const char *proxy;
    const char *no_proxy;
  } table[] = {
      {"https://h",
       {"HTTPS_PROXY=http://a", "HTTP_PROXY=http://b"},
       "http://a",
       NULL},
      {"https://h",
       {"https_proxy=http://a", "HTTPS_PROXY=http://b"},
       "http://a",
       NULL},
      {"http://h",
       {"HTTPS_PROXY=http://a", "HTTP_PROXY=http://b"},
       "http://b",
       NULL},
      {"http://h", {"http_proxy=b:3128", "NO_PROXY=x"}, "b:3128", "x"},
      {"http://h", {"HTTPS_PROXY=http://a"}, NULL, NULL},
      {"https://h",
       {"ALL_PROXY=socks5h://u:p@c:1080", "no_proxy=y"},
       "socks5h://u:p@c:1080",
       "y"},
      {"https://h", {"https_proxy=", "ALL_PROXY=http://c"}, NULL, NULL},
      {"http://h",
       {"HTTP_PROXY=http://evil", "REQUEST_METHOD=GET"},
       NULL,
       NULL},
      {"https://h", {"PYROSCOPE_PROXY=", "HTTPS_PROXY=http://a"}, NULL, NULL},
      {NULL, {"HTTPS_PROXY=http://a", "ALL_PROXY=not a proxy"}, NULL, NULL},
  };
  spanprof_options options;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    options_started(&options);
    options.server_address = table[i].address;
    CHECK_EQUAL(settings_of(&options, table[i].environment), SPANPROF_OK);
    if (table[i].proxy)
      CHECK_TEXT(settings.proxy, table[i].proxy);
    CHECK_EQUAL(!settings.proxy, !table[i].proxy);
    if (table[i].no_proxy)
      CHECK_TEXT(settings.no_proxy, table[i].no_proxy);
    CHECK_EQUAL(!settings.no_proxy, !table[i].no_proxy);
    settings_end();
  }
}

static void options_ssl_cert_file_applies_only_with_tls(void) {
  char *const environment[] = {"SSL_CERT_FILE=/nowhere/ca.pem", NULL};
  spanprof_options options;

  options_started(&options);
  options.server_address = "http://h";
  CHECK_EQUAL(settings_of(&options, environment), SPANPROF_OK);
  CHECK(!settings.ca_bundle);
  settings_end();
  options.server_address = "https://h";
  check_refused(&options, environment,
                "ca_bundle (from SSL_CERT_FILE) cannot be read");
}

static size_t scratch_entries(const char *path) {
  DIR *directory = opendir(path);
  size_t entries = 0;

  CHECK(directory);
  while (readdir(directory))
    entries++;
  closedir(directory);
  return entries - 2;
}

static void options_directories_are_created_private_and_stay_empty(void) {
  char output[96], spool[96];
  struct stat about;
  spanprof_options options;

  snprintf(output, sizeof output, "%s/output", scratch);
  snprintf(spool, sizeof spool, "%s/spool", scratch);
  options_started(&options);
  options.output_directory = output;
  options.spool_directory = spool;
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK_TEXT(settings.output_directory, output);
  CHECK_TEXT(settings.spool_directory, spool);
  settings_end();
  CHECK_EQUAL(stat(output, &about), 0);
  CHECK_EQUAL(about.st_mode & 07777, 0700);
  CHECK_EQUAL(scratch_entries(output), 0);
  CHECK_EQUAL(scratch_entries(spool), 0);
  options.spool_directory = output;
  check_refused(&options, no_environment,
                "spool_directory is the same as output_directory");
  rmdir(output);
  rmdir(spool);
}

static void options_of_an_older_caller_leave_others_unset(void) {
  spanprof_options options;
  size_t older = offsetof(spanprof_options, sample_rate_hz) + sizeof(int64_t);

  memset(&options, 0x5a, sizeof options);
  CHECK_EQUAL(spanprof_options_init(&options, older), SPANPROF_OK);
  CHECK_EQUAL(((unsigned char *)&options)[older], 0x5a);
  options.application_name = "shop";
  options.sample_rate_hz = 7;
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK_EQUAL(settings.sample_rate_hz, 7);
  CHECK_EQUAL(settings.signal_number, 0);
  CHECK(!settings.server_address && !settings.log && !settings.on_profile);
  settings_end();
}

static void options_of_another_size_are_refused(void) {
  spanprof_options options;

  CHECK_EQUAL(spanprof_options_init(&options, sizeof options + 8),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_options_init(&options, 0), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_options_init(NULL, sizeof options),
              SPANPROF_ERR_ARGUMENT);
  options_started(&options);
  options.struct_size = sizeof options + 8;
  check_refused(&options, no_environment, "struct_size");
  memset(&options, 0, sizeof options);
  check_refused(&options, no_environment, "call spanprof_options_init()");
}

static void log_nowhere(void *data, spanprof_log_level level,
                        const char *message) {
  (void)data;
  (void)level;
  (void)message;
}

static void options_log_level_depends_on_the_callback(void) {
  spanprof_options options;

  options_started(&options);
  options.log = log_nowhere;
  options.log_data = &options;
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK(settings.log == log_nowhere && settings.log_data == &options);
  CHECK_EQUAL(settings.log_level, SPANPROF_LOG_INFO);
  settings_end();
  options.log_level = SPANPROF_LOG_ERROR;
  CHECK_EQUAL(settings_of(&options, no_environment), SPANPROF_OK);
  CHECK_EQUAL(settings.log_level, SPANPROF_LOG_ERROR);
  settings_end();
}

static void settings_read_with(const sp_mem *mem) {
  static const spanprof_label_pair pairs[] = {{"a", "x,y"}, {"c", "d"}};
  char *const environment[] = {
      "OTEL_RESOURCE_ATTRIBUTES=service.namespace=n,k-8=p,service.name=s",
      "PYROSCOPE_PORT=tcp://10.0.0.7:4040", "PYROSCOPE_OTHER=1", NULL};
  spanprof_options options;
  sp_settings read;
  sp_buffer said;
  spanprof_status st;

  spanprof_options_init(&options, sizeof options);
  options.labels = "a=1,b=2,a=3";
  options.label_pairs = pairs;
  options.label_pair_count = 2;
  options.resource_labels = "k-8,missing";
  options.server_address = "https://u:p@h:4040/x";
  options.tenant_id = "t";
  options.http_headers = "{\"X-A\":\"b\",\"X-C\":\"d\"}";
  options.ca_bundle = "/proc/self/status";
  options.client_cert = "/proc/self/status";
  options.client_key = "/proc/self/status";
  options.proxy = "http://u:p@proxy:3128";
  options.no_proxy = "localhost";
  options.output_directory = scratch;
  sp_buffer_init(&said, mem);
  st = sp_settings_read(&read, mem, &options, environment, &said);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  if (st == SPANPROF_OK)
    sp_settings_dispose(&read);
  sp_buffer_dispose(&said);
}

static void options_survive_every_failed_allocation(void) {
  failing_mem_sweep(settings_read_with);
  CHECK_EQUAL(scratch_entries(scratch), 0);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"without a name the executable names the service",
       options_without_a_name_use_the_executable},
      {"a name alone gives the defaults",
       options_with_only_a_name_have_defaults},
      {"the environment alone sets all options",
       options_environment_alone_sets_all},
      {"a call takes precedence over the environment",
       options_call_takes_precedence_over_environment},
      {"the Java agent's names and syntax are accepted",
       options_java_names_and_syntax_are_accepted},
      {"the name defaults to OpenTelemetry's",
       options_name_defaults_to_opentelemetry},
      {"label pairs take precedence, and may contain commas",
       options_label_pairs_take_precedence_and_may_have_commas},
      {"credentials of the address become basic auth",
       options_credentials_of_the_address_become_basic_auth},
      {"the proxy follows the server's scheme",
       options_proxy_follows_the_servers_scheme},
      {"SSL_CERT_FILE applies only with TLS",
       options_ssl_cert_file_applies_only_with_tls},
      {"directories are created private and stay empty",
       options_directories_are_created_private_and_stay_empty},
      {"an older caller's options leave the others unset",
       options_of_an_older_caller_leave_others_unset},
      {"options of another size are refused",
       options_of_another_size_are_refused},
      {"the log level depends on the log callback",
       options_log_level_depends_on_the_callback},
      {"every failed allocation is survived",
       options_survive_every_failed_allocation},
  };
  int failed;

  snprintf(scratch, sizeof scratch, "/tmp/spanprof-options-XXXXXX");
  CHECK(mkdtemp(scratch));
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  rmdir(scratch);
  return failed;
}
