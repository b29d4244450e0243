#include "export/http/http_client.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>

#include "export_fixture.h"
#include "failing_mem.h"
#include "sink_process.h"

static test_clock test_time;
static sink_process sink;

static sp_http_client *client_of(const sp_settings *settings) {
  sp_http_client *client;

  CHECK(!sp_http_client_new(&client, &sp_mem_default, settings,
                            &test_time.clock));
  return client;
}

static sp_http_answer post(sp_http_client *client, const char *address) {
  char url[256];
  sp_http_request request = {.url = url,
                             .content_type = "application/proto",
                             .content_encoding = NULL,
                             .body = "\n\0",
                             .size = 2};
  sp_http_answer answer;

  snprintf(url, sizeof url, "%s/push.v1.PusherService/Push", address);
  sp_http_client_post(client, &request, &answer);
  return answer;
}

/* Send one request with a new client. */
static sp_http_answer post_once(const sp_settings *settings,
                                const char *address) {
  sp_http_client *client = client_of(settings);
  sp_http_answer answer = post(client, address);

  sp_http_client_free(client);
  return answer;
}

static void the_servers_answer_is_returned(void) {
  sp_settings settings = usual_settings();
  sp_http_answer answer = post_once(&settings, sink.address);

  CHECK_EQUAL(answer.status, 400);
  CHECK_TEXT(answer.message, "invalid_argument: no profiles received");
  CHECK(!answer.aborted);
  CHECK(!answer.retry_after_given);
}

static void connections_are_kept(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  long long requests = sink_number(&sink, "requests");
  long long connections;
  int i;

  CHECK_EQUAL(post(client, sink.address).status, 400);
  connections = sink_number(&sink, "connections");
  for (i = 0; i < 5; i++)
    CHECK_EQUAL(post(client, sink.address).status, 400);
  CHECK_EQUAL(sink_number(&sink, "requests"), requests + 6);
  /* Only the two connections to the control port of the sink are new. */
  CHECK_EQUAL(sink_number(&sink, "connections"), connections + 2);
  sp_http_client_free(client);
}

static void a_closed_connection_is_opened_again(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);

  CHECK_EQUAL(post(client, sink.address).status, 400);
  sink_control(&sink, "{\"mode\": \"close\", \"count\": 1}");
  CHECK_EQUAL(post(client, sink.address).status, 400);
  sp_http_client_free(client);
}

static void a_page_can_be_requested(void) {
  static const struct {
    const char *says;
    bool links;
  } cases[] = {{"", false}, {"span", true}, {"spans", false}};
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  long long asked = sink_number(&sink, "asked");
  sp_http_answer answer;
  char url[128];
  size_t i;

  snprintf(url, sizeof url, "%s/ready", sink.address);
  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    sink_control(&sink, "{\"links\": \"%s\"}", cases[i].says);
    sp_http_client_get(client, url, &answer);
    CHECK_EQUAL(answer.status, 200);
    CHECK_EQUAL(answer.links, cases[i].links);
    CHECK_EQUAL(post(client, sink.address).status, 400);
  }
  CHECK_EQUAL(sink_number(&sink, "asked"), asked + 3);
  /* A limit, even one in the far future, aborts all requests that are not
   * `needed`, such as those of sp_http_client_get(). */
  sp_http_client_limit(client, UINT64_MAX - 1);
  sp_http_client_get(client, url, &answer);
  CHECK(answer.aborted);
  CHECK(!answer.links);
  sink_control(&sink, "{\"links\": \"\"}");
  sp_http_client_free(client);
}

static void requests_have_their_headers(void) {
  char *headers[] = {(char *)"X-Extra: one two", (char *)"X-Empty:"};
  sp_settings settings = usual_settings();

  settings.tenant_id = (char *)"team-a";
  settings.auth_token = (char *)"secret-token";
  settings.headers = headers;
  settings.header_count = 2;
  CHECK_EQUAL(post_once(&settings, sink.address).status, 400);
  CHECK_TEXT(sink_text(&sink, "last/path"), "/push.v1.PusherService/Push");
  CHECK_TEXT(sink_text(&sink, "last/headers/user-agent"),
             "spanprof/" SPANPROF_VERSION);
  CHECK_TEXT(sink_text(&sink, "last/headers/content-type"),
             "application/proto");
  CHECK_TEXT(sink_text(&sink, "last/headers/x-scope-orgid"), "team-a");
  CHECK_TEXT(sink_text(&sink, "last/headers/authorization"),
             "Bearer secret-token");
  CHECK_TEXT(sink_text(&sink, "last/headers/x-extra"), "one two");
  CHECK(strstr(sink_text(&sink, "last/headers"), "\"x-empty\": \"\""));
  CHECK_TEXT(sink_text(&sink, "last/headers/expect"), "");
}

static void basic_auth_is_encoded(void) {
  static const struct {
    const char *user, *password, *header;
  } rows[] = {
      {"user", "pass", "Basic dXNlcjpwYXNz"},
      {"u", "", "Basic dTo="},
      {"ab", "c", "Basic YWI6Yw=="},
      {"Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
      {"\xc3\xa9", "\xff?", "Basic w6k6/z8="},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    sp_settings settings = usual_settings();

    settings.basic_auth_user = (char *)(size_t)rows[i].user;
    settings.basic_auth_password = (char *)(size_t)rows[i].password;
    CHECK_EQUAL(post_once(&settings, sink.address).status, 400);
    CHECK_TEXT(sink_text(&sink, "last/headers/authorization"), rows[i].header);
  }
}

static void long_bodies_are_sent_without_expect(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  char *body = calloc(1, 3 << 20);
  sp_http_request request = {
      .content_type = "application/proto", .body = body, .size = 3 << 20};
  char url[128];
  sp_http_answer answer;

  snprintf(url, sizeof url, "%s/push.v1.PusherService/Push", sink.address);
  request.url = url;
  sp_http_client_post(client, &request, &answer);
  CHECK_EQUAL(answer.status, 400);
  CHECK_EQUAL(sink_number(&sink, "last/bytes"), 3 << 20);
  CHECK_TEXT(sink_text(&sink, "last/headers/expect"), "");
  free(body);
  sp_http_client_free(client);
}

static void faulty_servers_are_reported(void) {
  static const struct {
    const char *mode;
    long status;
    const char *message; /* part of the expected message */
  } rows[] = {
      {"{\"mode\": \"status\", \"status\": 503}", 503, "unknown: on demand"},
      {"{\"mode\": \"status\", \"status\": 401, \"code\": \"unauthenticated\", "
       "\"message\": \"no org id\"}",
       401, "unauthenticated: no org id"},
      {"{\"mode\": \"redirect\"}", 301, ""},
      {"{\"mode\": \"close\"}", 0, "Empty reply"},
      {"{\"mode\": \"close_body\"}", 0, "transfer closed"},
      {"{\"mode\": \"cut_request\"}", 0, ""},
      {"{\"mode\": \"garbage\"}", 0, "HTTP/0.9"},
      {"{\"mode\": \"endless\"}", 200, "xxx"},
  };
  sp_settings settings = usual_settings();
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    sp_http_answer answer;

    sink_control(&sink, "%s", rows[i].mode);
    answer = post_once(&settings, sink.address);
    CHECK_EQUAL(answer.status, rows[i].status);
    CHECK(strstr(answer.message, rows[i].message) != NULL);
    CHECK(answer.status || answer.message[0]);
  }
  sink_control(&sink, "{\"mode\": \"ok\"}");
}

static void retry_after_is_read(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  sp_http_answer answer;

  sink_control(&sink, "{\"mode\": \"status\", \"status\": 429, "
                      "\"retry_after\": 17, \"count\": 1}");
  answer = post(client, sink.address);
  CHECK_EQUAL(answer.status, 429);
  CHECK(answer.retry_after_given);
  CHECK_EQUAL(answer.retry_after_ns, 17 * SP_NS_PER_S);
  /* The Retry-After of one answer does not apply to the next answer. */
  CHECK(!post(client, sink.address).retry_after_given);
  sp_http_client_free(client);
}

static void unreachable_servers_are_reported(void) {
  sp_settings settings = usual_settings();
  sp_http_answer answer = post_once(&settings, "http://127.0.0.1:1");

  CHECK_EQUAL(answer.status, 0);
  CHECK(strstr(answer.message, "no connection") != NULL);
  answer = post_once(&settings, "http://nowhere.invalid:4040");
  CHECK_EQUAL(answer.status, 0);
  CHECK(strstr(answer.message, "name was not found") != NULL);
}

static void a_hanging_server_has_ten_seconds(void) {
  sp_settings settings = usual_settings();
  sp_http_answer answer;
  uint64_t before_ns, took_ns;

  sink_control(&sink, "{\"mode\": \"hang\", \"count\": 1}");
  test_clock_init(&test_time, 20);
  before_ns = sp_clock_monotonic_ns(&test_time.clock);
  answer = post_once(&settings, sink.address);
  took_ns = sp_clock_monotonic_ns(&test_time.clock) - before_ns;
  CHECK_EQUAL(answer.status, 0);
  CHECK(!answer.aborted);
  CHECK(strstr(answer.message, "10 s") != NULL);
  CHECK(took_ns >= 10 * SP_NS_PER_S);
  test_clock_init(&test_time, 1);
}

static void *abort_soon(void *argument) {
  struct timespec wait = {0, 100000000};

  nanosleep(&wait, NULL);
  sp_http_client_abort(argument);
  return NULL;
}

static void another_thread_can_end_a_request(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  uint64_t before_ns = sp_monotonic_ns();
  sp_http_answer answer;
  pthread_t thread;

  sink_control(&sink, "{\"mode\": \"hang\", \"count\": 1}");
  CHECK(pthread_create(&thread, NULL, abort_soon, client) == 0);
  answer = post(client, sink.address);
  CHECK(answer.aborted);
  CHECK_EQUAL(answer.status, 0);
  /* This is much less than a request's limit of ten seconds. */
  CHECK(sp_monotonic_ns() - before_ns < 8 * SP_NS_PER_S);
  pthread_join(thread, NULL);
  /* After an abort, no request is sent. */
  answer = post(client, sink.address);
  CHECK(answer.aborted);
  sp_http_client_free(client);
}

static void a_limit_ends_a_request(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);

  sink_control(&sink, "{\"mode\": \"hang\", \"count\": 1}");
  sp_http_client_limit(client, sp_monotonic_ns() + 200 * SP_NS_PER_MS);
  CHECK(post(client, sink.address).aborted);
  sp_http_client_free(client);
}

static void a_proxy_is_used_unless_excepted(void) {
  sp_settings settings = usual_settings();

  settings.proxy = sink.address;
  CHECK_EQUAL(post_once(&settings, "http://pyroscope.invalid").status, 400);
  CHECK_TEXT(sink_text(&sink, "last/absolute"), "true");
  CHECK_TEXT(sink_text(&sink, "last/headers/host"), "pyroscope.invalid");
  settings.proxy = (char *)"http://127.0.0.1:1";
  CHECK_EQUAL(post_once(&settings, sink.address).status, 0);
  settings.no_proxy = (char *)"example.com,127.0.0.1";
  CHECK_EQUAL(post_once(&settings, sink.address).status, 400);
  CHECK_TEXT(sink_text(&sink, "last/absolute"), "false");
}

static void the_environment_is_ignored(void) {
  sp_settings settings = usual_settings();

  CHECK(setenv("http_proxy", "http://127.0.0.1:1", 1) == 0);
  CHECK(setenv("ALL_PROXY", "http://127.0.0.1:1", 1) == 0);
  CHECK_EQUAL(post_once(&settings, sink.address).status, 400);
  CHECK(setenv("no_proxy", "pyroscope.invalid", 1) == 0);
  settings.proxy = sink.address;
  CHECK_EQUAL(post_once(&settings, "http://pyroscope.invalid").status, 400);
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
  unsetenv("no_proxy");
}

static void ipv6_addresses_work(void) {
  static const char *const arguments[] = {"--host", "::1", NULL};
  sp_settings settings = usual_settings();
  sink_process six;

  sink_start(&six, "http", arguments);
  snprintf(six.address, sizeof six.address, "http://[::1]:%d", six.port);
  CHECK_EQUAL(post_once(&settings, six.address).status, 400);
  sink_stop(&six);
}

static void answers_with_credentials_are_omitted(void) {
  char *headers[] = {(char *)"X-Api-Key: 0123456789"};
  sp_settings settings = usual_settings();
  sp_http_answer answer;

  sink_control(&sink, "{\"mode\": \"echo\"}");
  CHECK(strstr(post_once(&settings, sink.address).message, "Host"));
  settings.basic_auth_user = (char *)"user";
  settings.basic_auth_password = (char *)"password";
  answer = post_once(&settings, sink.address);
  CHECK_EQUAL(answer.status, 400);
  CHECK(strstr(answer.message, "omitted") != NULL);
  settings.basic_auth_user = NULL;
  settings.auth_token = (char *)"secret-token";
  CHECK(strstr(post_once(&settings, sink.address).message, "omitted"));
  settings.auth_token = NULL;
  settings.headers = headers;
  settings.header_count = 1;
  CHECK(strstr(post_once(&settings, sink.address).message, "omitted"));
  /* If libcurl cannot use a proxy, its message has the whole URL of the proxy.
   */
  sink_control(&sink, "{\"mode\": \"ok\"}");
  settings.header_count = 0;
  settings.proxy = (char *)"odd://user:password@127.0.0.1:1";
  answer = post_once(&settings, sink.address);
  CHECK_EQUAL(answer.status, 0);
  CHECK(answer.message[0] && !strstr(answer.message, "password"));
}

/* A message may contain only the first part of a credential, because the
 * server, libcurl or spanprof has truncated the text. */
static void parts_of_a_long_credential_are_omitted(void) {
  char token[601], half[400], message[1000];
  sp_settings settings = usual_settings();
  sp_http_answer answer;
  size_t i;

  for (i = 0; i < sizeof token - 1; i++)
    token[i] = (char)('a' + i * i % 23);
  token[i] = '\0';
  settings.auth_token = token;
  sink_control(&sink, "{\"mode\": \"echo\"}");
  answer = post_once(&settings, sink.address);
  CHECK_EQUAL(answer.status, 400);
  CHECK(strstr(answer.message, "omitted") != NULL);
  snprintf(half, sizeof half, "%.*s", 350, token);
  snprintf(message, sizeof message,
           "{\"mode\": \"status\", \"status\": 403, \"message\": "
           "\"no access for %s...\"}",
           half);
  sink_control(&sink, "%s", message);
  answer = post_once(&settings, sink.address);
  CHECK_EQUAL(answer.status, 403);
  CHECK(strstr(answer.message, "omitted") != NULL);
  sink_control(&sink, "{\"mode\": \"ok\"}");
}

static void pages_are_not_acknowledgements(void) {
  sp_settings settings = usual_settings();
  sp_http_client *client = client_of(&settings);
  sp_http_request request = {.content_type = "application/proto",
                             .body = "",
                             .accepted_type = "application/proto"};
  char url[128];
  sp_http_answer answer;
  int i;

  snprintf(url, sizeof url, "%s/push.v1.PusherService/Push", sink.address);
  request.url = url;
  for (i = 0; i < 4; i++) {
    sink_control(&sink, "{\"mode\": \"html\", \"bytes\": %d}",
                 i < 2 ? 0 : 300000);
    request.accepted_type = i % 2 ? NULL : "application/proto";
    sp_http_client_post(client, &request, &answer);
    CHECK_EQUAL(answer.status, 200);
    CHECK(answer.not_pyroscope);
    CHECK(strstr(answer.message, "Sign in") != NULL);
  }
  sink_control(&sink, "{\"mode\": \"ok\"}");
  sp_http_client_post(client, &request, &answer);
  CHECK_EQUAL(answer.status, 400);
  CHECK(!answer.not_pyroscope);
  sp_http_client_free(client);
}

static int (*lookup_next(void))(const char *, const char *,
                                const struct addrinfo *, struct addrinfo **) {
  void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
  int (*next)(const char *, const char *, const struct addrinfo *,
              struct addrinfo **);

  memcpy(&next, &symbol, sizeof next);
  return next;
}

/* An address of the loopback network that no other program uses, so a port that
 * is free on 127.0.0.2 is free on this address, too. On 127.0.0.1 another
 * program may use the port. */
#define LONELY_ADDRESS "127.0.0.3"

/* Replaces the name lookup in libcurl, because the program's symbols have
 * priority over those of libc. The name two.invalid has two addresses. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **result) {
  struct addrinfo *second = NULL;
  int error;

  if (!node || strcmp(node, "two.invalid") != 0)
    return lookup_next()(node, service, hints, result);
  error = lookup_next()("127.0.0.2", service, hints, &second);
  if (!error)
    error = lookup_next()(LONELY_ADDRESS, service, hints, result);
  if (!error)
    (*result)->ai_next = second;
  return error;
}

/* Open a listener at `address` that accepts no connection, because its backlog
 * is full. `fillers` are the sockets that fill the backlog. */
static int black_hole(const char *address, int port, int fillers[8]) {
  struct sockaddr_in at = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)port)};
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i;

  at.sin_addr.s_addr = inet_addr(address);
  CHECK(bind(listener, (struct sockaddr *)&at, sizeof at) == 0);
  CHECK(listen(listener, 0) == 0);
  for (i = 0; i < 8; i++) {
    struct pollfd ready;

    fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ready = (struct pollfd){.fd = fillers[i], .events = POLLOUT};
    connect(fillers[i], (struct sockaddr *)&at, sizeof at);
    /* The backlog is full, so the last connections are never established. */
    if (i < 4)
      poll(&ready, 1, 100);
  }
  return listener;
}

static void an_unreachable_address_leaves_time_for_the_next(void) {
  static const char *const arguments[] = {"--host", "127.0.0.2", NULL};
  sp_settings settings = usual_settings();
  int listener, fillers[8], i;
  sp_http_answer answer;
  sink_process alive;
  char url[64];

  sink_start(&alive, "http", arguments);
  listener = black_hole(LONELY_ADDRESS, alive.port, fillers);
  snprintf(url, sizeof url, "http://two.invalid:%d", alive.port);
  answer = post_once(&settings, url);
  CHECK_TEXT(answer.message, "invalid_argument: no profiles received");
  CHECK_EQUAL(answer.status, 400);
  for (i = 0; i < 8; i++)
    close(fillers[i]);
  close(listener);
  sink_stop(&alive);
}

static void run(const char *format, ...) {
  char command[2048];
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  CHECK_EQUAL(system(command), 0);
}

/* Create a certificate authority `name`, and certificates for the server
 * 127.0.0.1 and for a client. */
static void certificates_make(const char *directory, const char *name) {
  run("cd %s && exec 2>/dev/null && openssl req -x509 -newkey rsa:2048 -nodes "
      "-days 2 -subj /CN=%s-ca -keyout %s-ca.key -out %s-ca.pem",
      directory, name, name, name);
  run("cd %s && exec 2>/dev/null && printf 'subjectAltName=IP:127.0.0.1' "
      "> %s.ext && for who in server client; do "
      "openssl req -newkey rsa:2048 -nodes -subj /CN=$who -keyout %s-$who.key "
      "-out %s-$who.csr && openssl x509 -req -days 2 -in %s-$who.csr "
      "-CA %s-ca.pem -CAkey %s-ca.key -CAcreateserial -extfile %s.ext "
      "-out %s-$who.pem || exit 1; done",
      directory, name, name, name, name, name, name, name, name);
}

static char *file_in(const char *directory, const char *name) {
  static char paths[8][128];
  static size_t next;
  char *path = paths[next++ % 8];

  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static void tls_is_verified(const char *directory) {
  const char *arguments[] = {"--cert", file_in(directory, "a-server.pem"),
                             "--key", file_in(directory, "a-server.key"), NULL};
  sp_settings settings = usual_settings();
  sp_http_answer answer;
  sink_process secure;
  char by_name[64];

  sink_start(&secure, "https", arguments);
  settings.ca_bundle = file_in(directory, "a-ca.pem");
  CHECK_EQUAL(post_once(&settings, secure.address).status, 400);
  snprintf(by_name, sizeof by_name, "https://localhost:%d", secure.port);
  answer = post_once(&settings, by_name);
  CHECK_EQUAL(answer.status, 0);
  CHECK(strstr(answer.message, "not trusted") != NULL);
  settings.ca_bundle = file_in(directory, "b-ca.pem");
  answer = post_once(&settings, secure.address);
  CHECK_EQUAL(answer.status, 0);
  CHECK(strstr(answer.message, "PYROSCOPE_CA_BUNDLE") != NULL);
  settings.ca_bundle = NULL;
  CHECK_EQUAL(post_once(&settings, secure.address).status, 0);
  /* This file exists, but has no certificate. */
  settings.ca_bundle = file_in(directory, "a.ext");
  answer = post_once(&settings, secure.address);
  CHECK_EQUAL(answer.status, 0);
  CHECK(strstr(answer.message, "no CA certificates") != NULL);
  sink_stop(&secure);
}

static void client_certificates_are_shown(const char *directory) {
  const char *arguments[] = {"--cert",      file_in(directory, "a-server.pem"),
                             "--key",       file_in(directory, "a-server.key"),
                             "--client-ca", file_in(directory, "a-ca.pem"),
                             NULL};
  sp_settings settings = usual_settings();
  sink_process secure;

  sink_start(&secure, "https", arguments);
  settings.ca_bundle = file_in(directory, "a-ca.pem");
  CHECK_EQUAL(post_once(&settings, secure.address).status, 0);
  settings.client_cert = file_in(directory, "a-client.pem");
  settings.client_key = file_in(directory, "a-client.key");
  CHECK_EQUAL(post_once(&settings, secure.address).status, 400);
  settings.client_cert = file_in(directory, "b-client.pem");
  settings.client_key = file_in(directory, "b-client.key");
  CHECK_EQUAL(post_once(&settings, secure.address).status, 0);
  sink_stop(&secure);
}

/* The sink acts as a proxy that uses TLS. */
static void a_proxy_is_verified_like_a_server(const char *directory) {
  const char *arguments[] = {"--cert", file_in(directory, "a-server.pem"),
                             "--key", file_in(directory, "a-server.key"), NULL};
  sp_settings settings = usual_settings();
  sp_http_answer answer;
  sink_process secure;

  sink_start(&secure, "https", arguments);
  settings.proxy = secure.address;
  settings.ca_bundle = file_in(directory, "a-ca.pem");
  CHECK_EQUAL(post_once(&settings, "http://behind.invalid").status, 400);
  settings.ca_bundle = file_in(directory, "b-ca.pem");
  answer = post_once(&settings, "http://behind.invalid");
  CHECK_EQUAL(answer.status, 0);
  CHECK(strstr(answer.message, "PYROSCOPE_CA_BUNDLE") != NULL);
  sink_stop(&secure);
}

static void tls_trusts_the_configured_authorities(void) {
  char directory[64];

  certificates_make(directory_new(directory), "a");
  certificates_make(directory, "b");
  tls_is_verified(directory);
  client_certificates_are_shown(directory);
  a_proxy_is_verified_like_a_server(directory);
  directory_remove(directory);
}

static void files_that_cannot_be_read_are_named(void) {
  static const char *const names[] = {"ca_bundle", "client_cert", "client_key"};
  size_t i;

  for (i = 0; i < 3; i++) {
    sp_settings settings = usual_settings();
    sp_http_client *client;
    char **fields[] = {&settings.ca_bundle, &settings.client_cert,
                       &settings.client_key};

    *fields[i] = (char *)"/no/such.pem";
    CHECK_EQUAL(sp_http_client_new(&client, &sp_mem_default, &settings,
                                   &test_time.clock),
                SPANPROF_ERR_IO);
    CHECK(client == NULL);
    CHECK(strstr(spanprof_last_error(), names[i]) != NULL);
    CHECK(strstr(spanprof_last_error(), "/no/such.pem") != NULL);
  }
}

static void request_once(const sp_mem *mem) {
  char *headers[] = {(char *)"X-Extra: one"};
  sp_settings settings = usual_settings();
  sp_http_client *client;

  settings.basic_auth_user = (char *)"user";
  settings.basic_auth_password = (char *)"password";
  settings.tenant_id = (char *)"team";
  settings.headers = headers;
  settings.header_count = 1;
  if (sp_http_client_new(&client, mem, &settings, &test_time.clock))
    return;
  post(client, sink.address);
  sp_http_client_free(client);
}

static void requests_survive_failing_memory(void) {
  failing_mem_sweep(request_once);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_servers_answer_is_returned", the_servers_answer_is_returned},
      {"connections_are_kept", connections_are_kept},
      {"a_closed_connection_is_opened_again",
       a_closed_connection_is_opened_again},
      {"a_page_can_be_requested", a_page_can_be_requested},
      {"requests_have_their_headers", requests_have_their_headers},
      {"basic_auth_is_encoded", basic_auth_is_encoded},
      {"long_bodies_are_sent_without_expect",
       long_bodies_are_sent_without_expect},
      {"faulty_servers_are_reported", faulty_servers_are_reported},
      {"retry_after_is_read", retry_after_is_read},
      {"unreachable_servers_are_reported", unreachable_servers_are_reported},
      {"a_hanging_server_has_ten_seconds", a_hanging_server_has_ten_seconds},
      {"another_thread_can_end_a_request", another_thread_can_end_a_request},
      {"a_limit_ends_a_request", a_limit_ends_a_request},
      {"a_proxy_is_used_unless_excepted", a_proxy_is_used_unless_excepted},
      {"the_environment_is_ignored", the_environment_is_ignored},
      {"ipv6_addresses_work", ipv6_addresses_work},
      {"answers_with_credentials_are_omitted",
       answers_with_credentials_are_omitted},
      {"parts_of_a_long_credential_are_omitted",
       parts_of_a_long_credential_are_omitted},
      {"pages_are_not_acknowledgements", pages_are_not_acknowledgements},
      {"an_unreachable_address_leaves_time_for_the_next",
       an_unreachable_address_leaves_time_for_the_next},
      {"tls_trusts_the_configured_authorities",
       tls_trusts_the_configured_authorities},
      {"files_that_cannot_be_read_are_named",
       files_that_cannot_be_read_are_named},
      {"requests_survive_failing_memory", requests_survive_failing_memory},
  };
  int failed;

  test_clock_init(&test_time, 1);
  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
