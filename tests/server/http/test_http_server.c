/* The HTTP server on real sockets: correct and malformed requests, and the
 * answers. */
#include "http_fixture.h"

#define TOKEN "secret"

static bool http_only_text(void *data, const sp_http_request *request,
                           sp_http_response *response) {
  const char *type = sp_http_header(request, "content-type");

  (void)data;
  if (!type || strcmp(type, "text/plain") == 0)
    return false;
  sp_http_answer(response, 415, NULL, "");
  return true;
}

static void http_start(const char *token) {
  const sp_http_route given[] = {
      {.methods = "GET,POST",
       .path = "/echo",
       .handler = http_echo,
       .body_max = 100000,
       .early = http_only_text,
       .flags = SP_HTTP_ALLOW_HEADER},
      {.methods = "GET",
       .path = "/open",
       .handler = http_echo,
       .flags = SP_HTTP_OPEN},
      {.methods = "GET",
       .path = "/slow",
       .handler = http_echo,
       .flags = SP_HTTP_SLOW},
  };

  http_begin(given, SP_COUNT_OF(given), token);
}

static void browsers_get_the_route_for_unknown_paths(void) {
  http_start("secret");
  routes.unknown = (sp_http_route){.methods = "GET",
                                   .path = "*",
                                   .handler = http_echo,
                                   .flags = SP_HTTP_OPEN};
  HAS(http_ask_text("GET /no HTTP/1.0\r\nAccept: text/html, */*\r\n\r\n"),
      "GET /no whole");
  HAS(http_ask_text("GET /no HTTP/1.0\r\nAccept: */*\r\n\r\n"), " 401 ");
  HAS(http_ask_text("POST /echo HTTP/1.0\r\nAccept: text/html\r\n"
                    "Content-Length: 1\r\n\r\nx"),
      " 401 ");
  http_stop();
}

static void every_answer_names_the_server(void) {
  const char *answer;

  http_start(NULL);
  answer = http_ask_text("GET /echo?a=b+c%21 HTTP/1.1\r\nHost: "
                         "localhost\r\nConnection: close\r\n\r\n");
  HAS(answer, "HTTP/1.1 200");
  HAS(answer, "Server: spanprof/" SPANPROF_VERSION "\r\n");
  HAS(answer, "Spanprof-Links: span\r\n");
  HAS(answer, "GET /echo whole 0 a=b c!");
  answer = http_ask_text("GET /no HTTP/1.0\r\n\r\n");
  HAS(answer, " 404 ");
  HAS(answer, "Server: spanprof/");
  HAS(answer, "404 page not found\n");
  answer = http_ask_text("PUT /echo HTTP/1.1\r\nHost: localhost\r\nConnection: "
                         "close\r\nContent-Length: 2\r\n\r\nxx");
  HAS(answer, " 405 ");
  HAS(answer, "Allow: GET,POST\r\n");
  http_stop();
}

/* A client of gRPC begins with the preface of HTTP/2 (RFC 9113, section
 * 3.4). */
static void a_client_of_http_2_is_logged_once(void) {
  static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  http_start(NULL);
  atomic_store(&http_log_lines, 0);
  HAS(http_ask_text(preface), " 505 ");
  HAS(http_ask_text(preface), " 505 ");
  CHECK_EQUAL(1, atomic_load(&http_log_lines));
  HAS(http_log_line, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf");
  http_stop();
}

/* A proxy may parse such requests differently, so the server refuses them. */
static void malformed_requests_are_refused_with_a_message(void) {
  static const struct {
    const char *headers;
    const char *status;
    const char *sentence;
  } requests[] = {
      {"Host: localhost\r\nContent-Length: 3\r\n", "200", "POST /echo whole 3"},
      {"Content-Length: 3\r\n", "400", "no Host header"},
      {"Host: localhost\r\nHOST: b\r\nContent-Length: 3\r\n", "400",
       "two Host headers"},
      {"Host: localhost\r\nContent-Length: 3\r\ncontent-length: 3\r\n", "400",
       "two Content-Length headers"},
      {"Host: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n",
       "400", "both Content-Length and Transfer-Encoding"},
      {"Host: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
       "identity\r\n",
       "400", "two Transfer-Encoding headers"},
      {"Host: localhost\r\nTransfer-Encoding : chunked\r\n", "400",
       "the name of a header has an invalid character"},
      {"Host: localhost\r\nContent-Length : 3\r\n", "400",
       "the name of a header has an invalid character"},
      {"Host: localhost\r\nTransfer-Encoding: xchunked\r\n", "501",
       "supported Transfer-Encoding is chunked"},
      {"Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n", "501",
       "supported Transfer-Encoding is chunked"},
  };
  char text[512], status[32];
  size_t i;

  http_start(NULL);
  for (i = 0; i < SP_COUNT_OF(requests); i++) {
    const char *answer;

    snprintf(text, sizeof text,
             "POST /echo HTTP/1.1\r\n%sConnection: close\r\n\r\nabc",
             requests[i].headers);
    answer = http_ask_text(text);
    snprintf(status, sizeof status, "HTTP/1.1 %s ", requests[i].status);
    HAS(answer, status);
    HAS(answer, requests[i].sentence);
    HAS(answer, "Connection: close\r\n");
  }
  HAS(http_ask_text("POST /echo HTTP/1.0\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
      "an HTTP/1.0 request cannot have Transfer-Encoding");
  http_stop();
}

static void agents_of_other_protocols_get_advice(void) {
  http_start(NULL);
  HAS(http_ask_text("POST /opentelemetry.proto.collector.trace.v1.TraceService/"
                    "Export HTTP/1.0\r\nContent-Length: 1\r\n\r\nx"),
      "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf");
  HAS(http_ask_text("POST /a.B/C HTTP/1.0\r\nContent-Type: "
                    "application/grpc+proto\r\nContent-Length: 1\r\n\r\nx"),
      "not over gRPC");
  HAS(http_ask_text("POST /v1/metrics HTTP/1.0\r\nContent-Length: "
                    "1\r\n\r\nx"),
      "does not accept metrics");
  HAS(http_ask_text("POST /v1/profiles HTTP/1.0\r\nContent-Length: "
                    "1\r\n\r\nx"),
      "/v1development/profiles");
  HAS(http_ask_text("GET /v1/metrics HTTP/1.0\r\n\r\n"),
      "404 page not found\n");
  http_stop();
}

static void a_prefix_and_doubled_slashes_are_ignored(void) {
  http_start(NULL);
  HAS(http_ask_text("GET /pyroscope/echo HTTP/1.0\r\n\r\n"), "GET /echo whole");
  HAS(http_ask_text("POST //echo HTTP/1.0\r\nContent-Length: 1\r\n\r\nx"),
      "POST /echo whole 1");
  HAS(http_ask_text("POST /base//echo HTTP/1.0\r\nContent-Length: 1\r\n\r\nx"),
      "POST /echo whole 1");
  HAS(http_ask_text("GET /echo/ HTTP/1.0\r\n\r\n"), " 404 ");
  HAS(http_ask_text("GET /../../etc/passwd HTTP/1.0\r\n\r\n"), " 404 ");
  http_stop();
}

static void a_truncated_body_is_answered(void) {
  http_start(NULL);
  HAS(http_ask_half("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                    "9\r\n\r\nhalf"),
      "POST /echo cut 0");
  HAS(http_ask_half(
          "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
          "chunked\r\n\r\n4\r\nhalf\r\n"),
      "POST /echo cut 0");
  HAS(http_ask_text(
          "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
          "chunked\r\nConnection: close\r\n\r\n4\r\nhalf\r\n0\r\n\r\n"),
      "POST /echo whole 4");
  http_stop();
}

/* The handler is not called for such a request, because it would run on
 * libmicrohttpd's thread. */
static void a_truncated_request_without_a_body_is_not_run(void) {
  http_start(NULL);
  CHECK_TEXT(http_ask_half("GET /open HTTP/1.1\r\nHost: "
                           "localhost\r\nContent-Length: 9\r\n\r\n"),
             "");
  CHECK_TEXT(http_ask_half("GET /echo HTTP/1.1\r\nHost: "
                           "localhost\r\nContent-Length: 9\r\n\r\n"),
             "");
  http_stop();
}

static void a_body_over_the_limit_is_read_and_answered(void) {
  static char text[200000];
  int head = snprintf(text, sizeof text,
                      "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: "
                      "close\r\nContent-Length: 150000\r\n\r\n");

  http_start(NULL);
  HAS(http_ask(text, (size_t)head + 150000), "POST /echo large 0");
  http_stop();
}

static void expect_continue_is_answered_before_the_body(void) {
  http_start(NULL);
  HAS(http_ask_text("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                    "a/b\r\nConnection: close\r\nExpect: "
                    "100-continue\r\nContent-Length: 5\r\n\r\n"),
      "HTTP/1.1 415");
  HAS(http_ask_text(
          "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
          "a/b\r\nConnection: close\r\nContent-Length: 5\r\n\r\n12345"),
      "HTTP/1.1 415");
  http_stop();
}

static void pages_of_other_sites_are_refused(void) {
  http_start(NULL);
  HAS(http_ask_text("GET /echo HTTP/1.1\r\nHost: evil.example\r\nConnection: "
                    "close\r\n\r\n"),
      " 403 ");
  HAS(http_ask_text("POST /echo HTTP/1.1\r\nHost: localhost:4040\r\nOrigin: "
                    "http://evil.example\r\nConnection: "
                    "close\r\nContent-Length: 1\r\n\r\nx"),
      " 403 ");
  HAS(http_ask_text(
          "POST /echo HTTP/1.1\r\nHost: localhost:4040\r\nSec-Fetch-Site: "
          "cross-site\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"),
      " 403 ");
  HAS(http_ask_text("POST /echo HTTP/1.1\r\nHost: localhost:4040\r\nOrigin: "
                    "http://localhost:4040\r\nConnection: "
                    "close\r\nContent-Length: 1\r\n\r\nx"),
      " 200 ");
  HAS(http_ask_text("GET /echo HTTP/1.1\r\nHost: [::1]:4040\r\nConnection: "
                    "close\r\n\r\n"),
      " 200 ");
  http_stop();
}

static void a_request_must_name_this_machine(void) {
  static const struct {
    const char *host, *status;
  } cases[] = {{"host.docker.internal:4040", " 200 "},
               {"Host.Docker.Internal", " 200 "},
               {"gateway.docker.internal:80", " 200 "},
               {"host.containers.internal", " 200 "},
               {"GATEWAY.example:4040", " 200 "},
               {"db", " 200 "},
               {"a.host.docker.internal", " 403 "},
               {"host.docker.internal.evil.example", " 403 "},
               {"evil.gateway.example", " 403 "},
               {"db.evil.example", " 403 "},
               {"192.168.0.7:4040", " 403 "},
               {"", " 403 "}};
  char text[256];
  size_t i;

  http_start(NULL);
  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    snprintf(text, sizeof text,
             "GET /echo HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
             cases[i].host);
    HAS(http_ask_text(text), cases[i].status);
  }
  HAS(http_ask_text("GET /echo HTTP/1.1\r\nHost: x\r\nConnection: "
                    "close\r\n\r\n"),
      "--allow-host");
  http_stop();
}

static void a_token_is_required_except_by_open_routes(void) {
  http_start(TOKEN);
  HAS(http_ask_text("GET /echo HTTP/1.0\r\n\r\n"), " 401 ");
  HAS(http_ask_text("GET /no HTTP/1.0\r\n\r\n"), " 401 ");
  HAS(http_ask_text("GET /open HTTP/1.0\r\n\r\n"), " 200 ");
  HAS(http_ask_text(
          "GET /echo HTTP/1.0\r\nAuthorization: Bearer secre\r\n\r\n"),
      " 401 ");
  HAS(http_ask_text(
          "GET /echo HTTP/1.0\r\nAuthorization: Bearer secret\r\n\r\n"),
      " 200 ");
  /* The text is the output of `printf anyone:secret | base64`. */
  HAS(http_ask_text("GET /echo HTTP/1.0\r\nAuthorization: Basic "
                    "YW55b25lOnNlY3JldA==\r\n\r\n"),
      " 200 ");
  HAS(http_ask_text(
          "GET /echo HTTP/1.0\r\nAuthorization: Basic YW55b25lOg==\r\n\r\n"),
      " 401 ");
  http_stop();
}

static void silent_connections_do_not_block_requests(void) {
  int silent[300];
  size_t i;

  http_start(NULL);
  for (i = 0; i < SP_COUNT_OF(silent); i++) {
    silent[i] = http_connect();
    CHECK(write(silent[i], "POST /echo HTTP/1.1\r\nContent-Le", 30) == 30);
  }
  HAS(http_ask_text("GET /slow HTTP/1.0\r\n\r\n"), "GET /slow whole");
  HAS(http_ask_text("GET /echo HTTP/1.0\r\n\r\n"), "GET /echo whole");
  for (i = 0; i < SP_COUNT_OF(silent); i++)
    close(silent[i]);
  http_stop();
}

static void an_invalid_address_is_refused_with_a_message(void) {
  sp_http_server *second;
  sp_http_server_options options = {.routes = &routes};
  char address[32];

  http_start(NULL);
  options.listen = "4040";
  CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, sp_http_server_start(&second, &options));
  HAS(spanprof_last_error(), "\"4040\" is not an address");
  options.listen = "::1:4040";
  CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, sp_http_server_start(&second, &options));
  HAS(spanprof_last_error(), "127.0.0.1:4040 or [::1]:4040");
  snprintf(address, sizeof address, "127.0.0.1:%u",
           sp_http_server_port(server));
  options.listen = address;
  CHECK_EQUAL(SPANPROF_ERR_SYSTEM, sp_http_server_start(&second, &options));
  HAS(spanprof_last_error(), "cannot listen on 127.0.0.1:");
  CHECK(!second);
  http_stop();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"browsers_get_the_route_for_unknown_paths",
       browsers_get_the_route_for_unknown_paths},
      {"every_answer_names_the_server", every_answer_names_the_server},
      {"a_client_of_http_2_is_logged_once", a_client_of_http_2_is_logged_once},
      {"malformed_requests_are_refused_with_a_message",
       malformed_requests_are_refused_with_a_message},
      {"agents_of_other_protocols_get_advice",
       agents_of_other_protocols_get_advice},
      {"a_prefix_and_doubled_slashes_are_ignored",
       a_prefix_and_doubled_slashes_are_ignored},
      {"a_truncated_body_is_answered", a_truncated_body_is_answered},
      {"a_truncated_request_without_a_body_is_not_run",
       a_truncated_request_without_a_body_is_not_run},
      {"a_body_over_the_limit_is_read_and_answered",
       a_body_over_the_limit_is_read_and_answered},
      {"expect_continue_is_answered_before_the_body",
       expect_continue_is_answered_before_the_body},
      {"pages_of_other_sites_are_refused", pages_of_other_sites_are_refused},
      {"a_request_must_name_this_machine", a_request_must_name_this_machine},
      {"a_token_is_required_except_by_open_routes",
       a_token_is_required_except_by_open_routes},
      {"silent_connections_do_not_block_requests",
       silent_connections_do_not_block_requests},
      {"an_invalid_address_is_refused_with_a_message",
       an_invalid_address_is_refused_with_a_message},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
