/* The sockets: libmicrohttpd's threads read requests and write answers, workers
 * between them run the handlers.
 *
 * Who: a thread of libmicrohttpd owns a call until its body is there, suspends
 * the connection and gives the call to a worker; the worker answers and resumes
 * the connection, and does not touch the call after that. A call of a slow
 * route goes to workers of its own, so that queries never keep pushes waiting,
 * and so does one with a large body. A worker that finds a call to take much
 * memory hands it on to one that does such calls, one after the other.
 *
 * Bodies that are being read share memory, and so do answers that are being
 * sent: what finds no room is answered 503 (budget.h). */
#ifndef SP_HTTP_SERVER_H
#define SP_HTTP_SERVER_H

#include "guard.h"
#include "server/http/message/http.h"
#include "util/system/log.h"

typedef struct sp_http_server sp_http_server;

typedef struct sp_http_server_options {
  const sp_http_routes *routes; /* borrowed, like the log */
  sp_log *log;
  const char *token;        /* NULL: none required, or in a file */
  const char *token_file;   /* NULL: none */
  const char *const *hosts; /* further names allowed in Host */
  size_t host_count;
  const char *listen;      /* "127.0.0.1:4040", "[::1]:0", "unix:/run/a.sock" */
  const char *listen_also; /* a second address; NULL: none */
} sp_http_server_options;

/* SPANPROF_ERR_ARGUMENT: an address that is none; SPANPROF_ERR_SYSTEM: it
 * cannot be had. */
spanprof_status sp_http_server_start(sp_http_server **out,
                                     const sp_http_server_options *options);

/* The port of the first (`number` 0) or the second address (1). */
uint16_t sp_http_server_port_of(const sp_http_server *server, size_t number);

static inline uint16_t sp_http_server_port(const sp_http_server *server) {
  return sp_http_server_port_of(server, 0);
}

/* The path of "unix:PATH"; NULL: not a Unix socket. */
const char *sp_http_unix_path(const char *listen);

/* Requests that are being answered. */
uint64_t sp_http_server_inflight(const sp_http_server *server);

/* How long they took, in Prometheus' text. */
void sp_http_server_durations(sp_http_server *server, sp_buffer *out);

/* Take no more, answer what is under way and 503 to what waits, end within a
 * second. NULL is fine. */
void sp_http_server_stop(sp_http_server *server);

/* Write an address as "http://127.0.0.1:4040", or a Unix socket as it was
 * given. */
void sp_http_server_say(const sp_http_server *server, size_t number,
                        const char *listen, char *out, size_t capacity);

/* The host of "host:port", with brackets around it gone; the port.
 * SPANPROF_ERR_ARGUMENT. */
spanprof_status sp_http_address(const char *listen, char *host, size_t capacity,
                                uint16_t *port);

#endif
