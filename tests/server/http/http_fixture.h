/* A server on real sockets, and a client for it. */
#ifndef HTTP_FIXTURE_H
#define HTTP_FIXTURE_H

#include "check.h"

#include <arpa/inet.h>
#include <sched.h>
#include <server/http/http_server.h>
#include <sys/socket.h>
#include <unistd.h>
#include <util/system/status.h>

static sp_http_server *server;
static sp_http_routes routes;

/* A handler that answers with the method, path, fault and size of the
 * request. */
static inline void http_echo(void *data, const sp_http_request *request,
                             sp_http_response *response) {
  static const char *const faults[] = {"whole", "cut", "large", "busy"};

  (void)data;
  sp_http_answer(response, request->fault ? 400 : 200, "text/plain", "");
  sp_buffer_format(&response->body, "%s %s %s %zu", request->method,
                   request->path, faults[request->fault], request->body_size);
  if (sp_http_query(request, "a"))
    sp_buffer_format(&response->body, " a=%s", sp_http_query(request, "a"));
}

/* The log of the server, the number of its lines, and its last line. */
static sp_log http_log;
static _Atomic int http_log_lines;
static char http_log_line[512];

static inline void http_log_write(void *data, spanprof_log_level level,
                                  const char *line) {
  (void)data;
  (void)level;
  snprintf(http_log_line, sizeof http_log_line, "%s", line);
  atomic_fetch_add(&http_log_lines, 1);
}

static inline void http_begin(const sp_http_route *given, size_t count,
                              const char *token) {
  static const char *const hosts[] = {"gateway.example", "db"};
  const sp_http_server_options options = {.routes = &routes,
                                          .log = &http_log,
                                          .listen = "127.0.0.1:0",
                                          .token = token,
                                          .hosts = hosts,
                                          .host_count = SP_COUNT_OF(hosts)};
  size_t i;

  sp_log_init(&http_log, http_log_write, NULL, SPANPROF_LOG_INFO,
              sp_clock_system());
  routes = (sp_http_routes){.mem = &sp_mem_default};
  for (i = 0; i < count; i++)
    CHECK(!sp_http_routes_add(&routes, &given[i]));
  CHECK(!sp_http_server_start(&server, &options));
}

static inline void http_stop(void) {
  sp_http_server_stop(server);
  sp_http_routes_dispose(&routes);
}

static inline int http_connect(void) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int client = socket(AF_INET, SOCK_STREAM, 0);

  address.sin_port = htons(sp_http_server_port(server));
  CHECK(client >= 0);
  CHECK(!connect(client, (struct sockaddr *)&address, sizeof address));
  return client;
}

static inline void http_send(int client, const char *text, size_t size) {
  ssize_t n;

  for (; size; text += n, size -= (size_t)n) {
    n = send(client, text, size, MSG_NOSIGNAL);
    CHECK(n > 0);
  }
}

/* Send a request and return the whole answer. With `half`, the client closes
 * its sending side after the request. */
static inline const char *http_exchange(const char *text, size_t size,
                                        bool half) {
  static char answer[8192];
  int client = http_connect();
  size_t got = 0;
  ssize_t n;

  http_send(client, text, size);
  if (half)
    shutdown(client, SHUT_WR);
  while ((n = read(client, answer + got, sizeof answer - 1 - got)) > 0)
    got += (size_t)n;
  answer[got] = '\0';
  close(client);
  return answer;
}

static inline const char *http_ask(const char *text, size_t size) {
  return http_exchange(text, size, false);
}

static inline const char *http_ask_half(const char *text) {
  return http_exchange(text, strlen(text), true);
}

static inline const char *http_ask_text(const char *text) {
  return http_ask(text, strlen(text));
}

#define HAS(answer, part)                                  \
  do {                                                     \
    const char *has = (answer);                            \
    if (!strstr(has, part))                                \
      check_texts(__FILE__, __LINE__, #answer, has, part); \
  } while (0)

#endif
