#include "http_server.h"

#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "budget.h"
#include "call.h"
#include "connections.h"
#include "listen.h"
#include "malformed.h"
#include "server/http/message/durations.h"
#include "server/http/message/percent.h"
#include "util/system/clock.h"
#include "util/system/status.h"

#define SERVER_HEADER_BYTES    ((size_t)64 << 10)
#define SERVER_LARGE_BODY      ((size_t)64 << 10)
#define SERVER_FLUSH_TRIES_MAX 50 /* waits of 10 ms for the last answers */
#define SERVER_MESSAGE_BYTES   256
/* libmicrohttpd's limit of connections for each of its two threads. It is
 * higher than SP_CONNECTIONS_MAX, so that sp_connections closes surplus
 * connections first. */
#define SERVER_MHD_CONNECTIONS (4 * SP_CONNECTIONS_MAX)
/* Number of open files other than connections, for example those of the store.
 */
#define SERVER_FILES 200

/* The status of a request whose client has disconnected, as in Pyroscope and
 * nginx. */
#define SERVER_CLIENT_GONE 499

/* The pools of workers, one for each class of calls, so that a call waits only
 * for calls of its own class. */
typedef enum server_pool {
  SERVER_SHORT_CALLS,
  SERVER_LARGE_BODIES,
  SERVER_QUERIES,
  SERVER_LARGE_QUERIES, /* queries that need more memory than
                         * SP_HTTP_SMALL_MAX */
  SERVER_POOLS
} server_pool;

static const struct {
  const char *thread_name;
  size_t thread_count;
  size_t waiting_max;
  const char *full; /* body of the answer with status 503 if too many calls
                     * wait */
} server_pools[SERVER_POOLS] = {
    [SERVER_SHORT_CALLS] = {"sp-answer", 24, SP_CONNECTIONS_MAX,
                            "too many requests are waiting, try again\n"},
    [SERVER_LARGE_BODIES] = {"sp-large-body", 4, SP_CONNECTIONS_MAX,
                             "too many uploads are waiting, try again\n"},
    [SERVER_QUERIES] = {"sp-query", 3, 512,
                        "too many queries are waiting, try again\n"},
    [SERVER_LARGE_QUERIES] = {"sp-large-query", 1, 32,
                              "too many large queries are under way, "
                              "try again\n"},
};

typedef struct server_listener {
  sp_http_server *server;
  sp_guard guard;
  struct MHD_Daemon *daemon;
  int socket;
  uint16_t port;
  const char *path; /* path of a Unix socket; NULL: TCP */
} server_listener;

struct sp_http_server {
  /* Fixed after sp_http_server_start(). */
  const sp_http_routes *routes;
  const char *base_path; /* may be NULL */
  server_listener listeners[2];
  size_t listener_count;
  sp_workers workers[SERVER_POOLS];
  size_t pool_count; /* pools that have started */
  sp_connections connections;
  sp_http_durations durations;
  sp_token token;
  sp_log *log;
  /* Used by any thread. */
  atomic_bool stopping;
  atomic_bool logged_http2;
  sp_http_budget budget;
  sp_gate large; /* entered by the call that may use much memory */
  _Atomic uint64_t inflight;
};

/* Resume the connection, so that libmicrohttpd sends the answer. Do not use the
 * call after this. */
static void server_resume(sp_http_call *call) {
  struct MHD_Connection *connection = call->connection;

  atomic_store(&call->answered, true);
  MHD_resume_connection(connection);
}

static void server_refuse(sp_http_call *call, const char *why) {
  sp_http_answer(&call->response, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain",
                 why);
  server_resume(call);
}

static void server_refuse_stopped(sp_work *work) {
  server_refuse((sp_http_call *)work, "the server is stopping\n");
}

/* Pass the call to a worker, or refuse it if too many calls wait. */
static void server_add_work(sp_http_call *call, server_pool pool) {
  sp_http_server *server = call->server;

  if (sp_workers_add(&server->workers[pool], &call->work))
    return;
  if (atomic_load(&server->stopping))
    server_refuse_stopped(&call->work);
  else
    server_refuse(call, server_pools[pool].full);
}

/* The job of a worker: answer a call. */
static void server_work(sp_work *work) {
  sp_http_call *call = (sp_http_call *)work;

  if ((call->request.is_limited || call->is_retry) &&
      sp_cancelled(&call->cancel)) {
    sp_http_answer(&call->response, SERVER_CLIENT_GONE, "text/plain",
                   "the client has disconnected or timed out\n");
  } else {
    sp_http_call_run(call);
    if (call->response.needs_large) {
      sp_http_call_set_retry(call);
      server_add_work(call, SERVER_LARGE_QUERIES);
      return;
    }
  }
  /* Return the memory of a large body to the system. Without malloc_trim(),
   * each of the C library's arenas would keep it. */
  if (call->body.size > SERVER_LARGE_BODY &&
      (call->route->flags & SP_HTTP_SLOW))
    malloc_trim(0);
  server_resume(call);
}

/* If the response is known before the body arrives, it is sent immediately if
 * the client sent Expect (RFC 9110, 10.1.1), or if the request is so malformed
 * that the end of the body is not known. Otherwise it is sent after the body,
 * because the client may not read an earlier answer. */
static enum MHD_Result server_begin(sp_http_call *call, const sp_guard *guard,
                                    const char *version) {
  bool now = sp_http_header(&call->request, "Expect") != NULL;

  call->counts = true;
  atomic_fetch_add(&call->server->inflight, 1);
  sp_connections_body(&call->server->connections, call->tracked);
  if (sp_http_refuse_malformed(&call->request, version, &call->response))
    now = true;
  else
    sp_http_call_find(call, call->server->routes, call->server->base_path,
                      guard);
  if (!call->route && now) {
    atomic_store(&call->answered, true);
    return sp_http_budget_answer(&call->server->budget, call);
  }
  return MHD_YES;
}

static enum MHD_Result server_hand_over(sp_http_call *call) {
  sp_http_server *server = call->server;
  server_pool pool = SERVER_SHORT_CALLS;

  if (call->body.size)
    call->request.body = call->body.data;
  call->request.body_size = call->body.size;
  call->work.run = server_work;
  call->running = true;
  call->request.is_limited =
      (call->route->flags & (SP_HTTP_SLOW | SP_HTTP_CHANGES)) == SP_HTTP_SLOW;
  if (call->request.is_limited)
    call->response.body.size_max = SP_HTTP_SMALL_MAX;
  sp_connections_work(&server->connections, call->tracked,
                      call->request.is_limited ? &call->cancel : NULL);
  MHD_suspend_connection(call->connection);
  if (call->route->flags & SP_HTTP_SLOW)
    pool = SERVER_QUERIES;
  else if (call->body.size > SERVER_LARGE_BODY)
    pool = SERVER_LARGE_BODIES;
  server_add_work(call, pool);
  return MHD_YES;
}

static enum MHD_Result server_access(void *data,
                                     struct MHD_Connection *connection,
                                     const char *url, const char *method,
                                     const char *version, const char *body,
                                     size_t *body_size, void **request) {
  sp_http_call *call = *request;

  if (!call) {
    const server_listener *listener = data;

    call = sp_http_call_new(listener->server, connection, url, method);
    *request = call;
    if (!call)
      return MHD_NO;
    call->large = &listener->server->large;
    return server_begin(call, &listener->guard, version);
  }
  if (*body_size) {
    const size_t size = *body_size;

    *body_size = 0;
    return sp_http_budget_body(&call->server->budget, call, body, size);
  }
  if (atomic_load(&call->answered) || !call->route)
    return sp_http_budget_answer(&call->server->budget, call);
  return call->running ? MHD_YES : server_hand_over(call);
}

/* Answer a client that has closed its side of the connection after a part of
 * the body, and still reads. Runs on libmicrohttpd's thread, so the handler may
 * do nothing but report SP_HTTP_FAULT_CUT. Requests without a body are skipped,
 * because the handler would process them on this thread. */
static void server_cut(sp_http_call *call) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(
      call->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  const char *method = call->request.method;

  if (!info || !call->route->body_max || strcmp(method, "GET") == 0 ||
      strcmp(method, "HEAD") == 0)
    return;
  sp_http_budget_drop(&call->server->budget, call, SP_HTTP_FAULT_CUT);
  call->request.body = "";
  call->request.body_size = 0;
  sp_http_call_run(call);
  sp_http_call_answer_cut(call, info->connect_fd);
  atomic_store(&call->answered, true);
}

static void server_measure(const sp_http_call *call) {
  const bool answered = atomic_load(&call->answered) || !call->route;

  sp_http_durations_add(&call->server->durations, call->counted_route,
                        call->request.method,
                        answered ? call->response.status : SERVER_CLIENT_GONE,
                        sp_monotonic_ns() - call->begin_ns);
}

static void server_completed(void *data, struct MHD_Connection *connection,
                             void **request,
                             enum MHD_RequestTerminationCode why) {
  sp_http_call *call = *request;

  (void)connection;
  (void)data;
  if (!call)
    return;
  if (why == MHD_REQUEST_TERMINATED_CLIENT_ABORT && call->route &&
      !call->running)
    server_cut(call);
  sp_http_budget_end(&call->server->budget, call);
  sp_connections_idle(&call->server->connections, call->tracked);
  if (call->counts) {
    server_measure(call);
    atomic_fetch_sub(&call->server->inflight, 1);
  }
  sp_http_call_free(call);
  *request = NULL;
}

static void server_connection(void *data, struct MHD_Connection *connection,
                              void **of_socket,
                              enum MHD_ConnectionNotificationCode what) {
  sp_http_server *server = data;
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

  if (info && what == MHD_CONNECTION_NOTIFY_STARTED)
    *of_socket = sp_connections_add(&server->connections, info->connect_fd);
  else if (what == MHD_CONNECTION_NOTIFY_CLOSED)
    sp_connections_remove(&server->connections, *of_socket);
}

static size_t server_unescape(void *data, struct MHD_Connection *connection,
                              char *text) {
  (void)data;
  (void)connection;
  return sp_percent_decode(text);
}

/* Receives libmicrohttpd's log messages. Only the message about status 505
 * concerns the user: a gRPC exporter begins with HTTP/2 (RFC 9113, 3.4), and
 * libmicrohttpd answers that with 505 before it calls server_access(). */
static void server_message(void *data, const char *format, va_list list) {
  sp_http_server *server = data;
  char text[SERVER_MESSAGE_BYTES];

  vsnprintf(text, sizeof text, format, list);
  if (strstr(text, " 505 ") && !atomic_exchange(&server->logged_http2, true))
    sp_log_line(
        server->log, SPANPROF_LOG_WARN,
        "a client used HTTP/2, probably OTLP over gRPC: this server only "
        "accepts OTLP over HTTP, so set "
        "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf there");
}

/* Without MHD_USE_TURBO, libmicrohttpd would shut a connection down for writing
 * before server_cut() can answer. */
static struct MHD_Daemon *server_daemon(server_listener *listener) {
  sp_http_server *server = listener->server;

  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO |
          MHD_USE_ERROR_LOG,
      0, NULL, NULL, server_access, listener, MHD_OPTION_EXTERNAL_LOGGER,
      server_message, server, MHD_OPTION_UNESCAPE_CALLBACK, server_unescape,
      NULL, MHD_OPTION_LISTEN_SOCKET, listener->socket,
      MHD_OPTION_NOTIFY_COMPLETED, server_completed, server,
      MHD_OPTION_NOTIFY_CONNECTION, server_connection, server,
      MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)SERVER_MHD_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
      (unsigned)SP_IDLE_SECONDS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      SERVER_HEADER_BYTES, MHD_OPTION_END);
}

static spanprof_status server_listen(sp_http_server *server,
                                     const sp_http_server_options *options,
                                     const char *listen_on) {
  server_listener *listener = &server->listeners[server->listener_count];
  spanprof_status st;

  listener->server = server;
  listener->guard = (sp_guard){.token = &server->token,
                               .hosts = options->hosts,
                               .host_count = options->host_count};
  st = sp_http_listen(listen_on, &listener->socket, &listener->guard.loopback,
                      &listener->port);
  if (st)
    return st;
  listener->path = sp_http_unix_path(listen_on);
  listener->daemon = server_daemon(listener);
  if (!listener->daemon) {
    sp_http_unlisten(listener->socket, listener->path);
    return sp_fail(SPANPROF_ERR_SYSTEM, "cannot serve on %s", listen_on);
  }
  server->listener_count++;
  return SPANPROF_OK;
}

static spanprof_status server_workers(sp_http_server *server) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < SERVER_POOLS; i++) {
    st = sp_workers_start(&server->workers[i], server_pools[i].thread_name,
                          server_pools[i].thread_count,
                          server_pools[i].waiting_max);
    server->pool_count += !st;
  }
  return st;
}

/* Returns the limit of connections, which the limit of open files may reduce. A
 * few more may be open while the oldest ones are being closed. */
static size_t server_connections_max(void) {
  const uint64_t files =
      sp_http_descriptors(2 * SP_CONNECTIONS_MAX + SERVER_FILES);

  return sp_min_u64(SP_CONNECTIONS_MAX, files > 2 * SERVER_FILES
                                            ? files - SERVER_FILES
                                            : files / 2);
}

spanprof_status sp_http_server_start(sp_http_server **out,
                                     const sp_http_server_options *options) {
  sp_http_server *server = sp_mem_zero(&sp_mem_default, sizeof *server);
  spanprof_status st;

  *out = NULL;
  if (!server)
    return SPANPROF_ERR_NOMEM;
  sp_http_durations_init(&server->durations, &sp_mem_default);
  sp_gate_init(&server->large, 1);
  server->routes = options->routes;
  server->base_path = options->base_path;
  server->log = options->log;
  st = sp_token_init(&server->token, options->token, options->token_file);
  if (!st)
    st = server_workers(server);
  if (!st)
    st = sp_connections_start(&server->connections, server_connections_max());
  if (!st)
    st = server_listen(server, options, options->listen);
  if (!st && options->listen_also)
    st = server_listen(server, options, options->listen_also);
  if (st) {
    sp_http_server_stop(server);
    return st;
  }
  *out = server;
  return SPANPROF_OK;
}

uint16_t sp_http_server_port_of(const sp_http_server *server, size_t number) {
  return server->listeners[number].port;
}

void sp_http_server_durations(sp_http_server *server, sp_buffer *out) {
  sp_http_durations_write(&server->durations, out);
}

uint64_t sp_http_server_inflight(const sp_http_server *server) {
  return atomic_load(&server->inflight);
}

void sp_http_server_stop(sp_http_server *server) {
  size_t i;

  if (!server)
    return;
  atomic_store(&server->stopping, true);
  /* Stop the pools before the queries are cancelled, because no waiting query
   * may start when a cancelled one ends. */
  for (i = 0; i < server->pool_count; i++)
    sp_workers_halt(&server->workers[i], server_refuse_stopped);
  sp_connections_cancel_all(&server->connections, SP_CANCEL_STOP);
  for (i = 0; i < server->listener_count; i++)
    MHD_quiesce_daemon(server->listeners[i].daemon);
  for (i = 0; i < server->pool_count; i++)
    sp_workers_join(&server->workers[i]);
  /* Wait until the last answers are written. */
  for (i = 0; i < SERVER_FLUSH_TRIES_MAX && atomic_load(&server->inflight); i++)
    poll(NULL, 0, 10);
  for (i = 0; i < server->listener_count; i++) {
    MHD_stop_daemon(server->listeners[i].daemon);
    sp_http_unlisten(server->listeners[i].socket, server->listeners[i].path);
  }
  sp_connections_stop(&server->connections);
  sp_http_durations_dispose(&server->durations);
  sp_token_dispose(&server->token);
  sp_gate_dispose(&server->large);
  sp_mem_free(&sp_mem_default, server);
}
