/* The HTTP server. libmicrohttpd's threads read requests and write answers;
 * worker threads run the handlers.
 *
 * Threads: a thread of libmicrohttpd owns a call until the body is complete. It
 * then suspends the connection and passes the call to a worker. The worker
 * answers, resumes the connection and does not use the call after that. Each
 * class of calls has its own pool of workers (http_server.c), so that queries
 * do not delay uploads, and small uploads do not wait for large ones.
 *
 * The bodies that are being read share a bounded amount of memory, and so do
 * the answers that are being sent. Requests beyond it are answered 503
 * (budget.h). */
#ifndef SP_HTTP_SERVER_H
#define SP_HTTP_SERVER_H

#include "guard.h"
#include "server/http/message/http.h"
#include "util/system/log.h"

typedef struct sp_http_server sp_http_server;

typedef struct sp_http_server_options {
  const sp_http_routes *routes; /* borrowed; the log, too */
  sp_log *log;
  const char *token;        /* NULL: no token is required, or it is in a file */
  const char *token_file;   /* may be NULL */
  const char *const *hosts; /* additional names that Host may have */
  size_t host_count;
  const char *listen;      /* "127.0.0.1:4040", "[::1]:0", "unix:/run/a.sock" */
  const char *listen_also; /* a second address, or NULL */
} sp_http_server_options;

/* SPANPROF_ERR_ARGUMENT: an address is invalid. SPANPROF_ERR_SYSTEM: an address
 * cannot be bound, or a thread cannot be started. */
spanprof_status sp_http_server_start(sp_http_server **out,
                                     const sp_http_server_options *options);

/* Returns the port of the first (`number` 0) or second (1) address. */
uint16_t sp_http_server_port_of(const sp_http_server *server, size_t number);

static inline uint16_t sp_http_server_port(const sp_http_server *server) {
  return sp_http_server_port_of(server, 0);
}

/* Returns the path of "unix:PATH", or NULL for other addresses. */
const char *sp_http_unix_path(const char *listen);

/* Number of requests that are being received or answered. */
uint64_t sp_http_server_inflight(const sp_http_server *server);

/* Write the durations of requests in the text format of Prometheus. */
void sp_http_server_durations(sp_http_server *server, sp_buffer *out);

/* Accept no more connections, finish the requests that workers are answering,
 * answer 503 to waiting requests, and stop. Queries are cancelled. Accepts
 * NULL. */
void sp_http_server_stop(sp_http_server *server);

/* Write an address as "http://127.0.0.1:4040", or the address of a Unix socket
 * as it was configured. */
void sp_http_server_format_address(const sp_http_server *server, size_t number,
                                   const char *listen, char *out,
                                   size_t capacity);

/* Split "host:port". Brackets around the host are removed.
 * SPANPROF_ERR_ARGUMENT. */
spanprof_status sp_http_address(const char *listen, char *host, size_t capacity,
                                uint16_t *port);

#endif
