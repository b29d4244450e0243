/* The HTTP server. libmicrohttpd's threads read requests and write answers;
 * worker threads run the handlers.
 *
 * Threads: a thread of libmicrohttpd owns a call until the body is complete. It
 * then suspends the connection and passes the call to a worker. The worker
 * fills the response, resumes the connection and does not use the call after
 * that. Each class of calls has its own pool of workers (http_server.c), so
 * that queries do not delay uploads, and small uploads do not wait for large
 * ones.
 *
 * The bodies that are being read share a bounded amount of memory, and so do
 * the answers that are being sent. A request that would exceed one of these
 * limits is answered with status 503 (budget.h). */
#ifndef SP_HTTP_SERVER_H
#define SP_HTTP_SERVER_H

#include "guard.h"
#include "server/http/message/http.h"
#include "util/system/log.h"

typedef struct sp_http_server sp_http_server;

typedef struct sp_http_server_options {
  const sp_http_routes *routes; /* borrowed, like the log */
  sp_log *log;
  const char *token;        /* NULL: no token is required, or it is in a file */
  const char *token_file;   /* may be NULL */
  const char *const *hosts; /* additional names that Host may have */
  size_t host_count;
  const char *base_path;   /* base_path.h; may be NULL */
  const char *listen;      /* "127.0.0.1:4040", "[::1]:0", "unix:/run/a.sock" */
  const char *listen_also; /* a second address, or NULL */
} sp_http_server_options;

/* Start a server. Returns SPANPROF_ERR_ARGUMENT if an address or the token is
 * invalid, and SPANPROF_ERR_SYSTEM if an address cannot be bound or a thread
 * cannot be started. */
spanprof_status sp_http_server_start(sp_http_server **out,
                                     const sp_http_server_options *options);

/* Returns the port of the address `listen` (`number` 0) or `listen_also` (1).
 */
uint16_t sp_http_server_port_of(const sp_http_server *server, size_t number);

static inline uint16_t sp_http_server_port(const sp_http_server *server) {
  return sp_http_server_port_of(server, 0);
}

/* Returns the path of "unix:PATH", or NULL for other addresses. */
const char *sp_http_unix_path(const char *listen);

/* Returns the number of requests that are being received or answered. */
uint64_t sp_http_server_inflight(const sp_http_server *server);

/* Write the durations of requests in the text format of Prometheus. */
void sp_http_server_durations(sp_http_server *server, sp_buffer *out);

/* Accept no more connections, cancel the running queries, finish the other
 * requests that workers are answering, answer the waiting requests with status
 * 503, and free the server. `server` may be NULL. */
void sp_http_server_stop(sp_http_server *server);

/* Write the address with this number, with its port, as
 * "http://127.0.0.1:4040". The address of a Unix socket is written as in
 * `listen`. */
void sp_http_server_format_address(const sp_http_server *server, size_t number,
                                   const char *listen, char *out,
                                   size_t capacity);

/* Split "host:port". Brackets around the host are removed. Returns
 * SPANPROF_ERR_ARGUMENT if the text has another form. */
spanprof_status sp_http_address(const char *listen, char *host, size_t capacity,
                                uint16_t *port);

#endif
