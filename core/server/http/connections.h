/* The open connections, and the limits for slow or disconnected clients.
 *
 * A connection is either waiting for bytes from its client (headers, then a
 * body), or working: the server processes its request. One thread checks all
 * connections:
 * - It closes a waiting connection whose request takes too long to arrive. If
 *   there are too many connections, in total or from one address, the
 *   connection that has waited longest is closed in favour of a new one.
 * - It cancels a query whose client has closed the connection. The thread also
 *   works around a bug of libmicrohttpd 0.9.75, which uses edge-triggered
 *   epoll: libmicrohttpd misses the end of a stream that arrives together with
 *   the last bytes. The thread then shuts the socket down for reading, which
 *   causes another edge.
 *
 * Threads: libmicrohttpd's threads call all functions except start, cancel_all
 * and stop. They call sp_connections_remove() before they close a connection's
 * socket. */
#ifndef SP_CONNECTIONS_H
#define SP_CONNECTIONS_H

#include <pthread.h>

#include "server/model/cancel.h"

/* Largest number of connections of all listeners together. It is lower if the
 * limit of open files requires it. */
#define SP_CONNECTIONS_MAX 2048
/* Largest number of connections from one IPv4 address or one /64 network of
 * IPv6. All clients behind a proxy share its address. */
#define SP_CONNECTIONS_OF_ADDRESS_MAX 1024

#define SP_HEADERS_SECONDS_MAX 30  /* for the headers of the first request */
#define SP_IDLE_SECONDS_MAX    100 /* from an answer to the next headers */
#define SP_BODY_SECONDS_MAX    120

typedef struct sp_connection {
  struct sp_connection *next;
  struct sp_connection *previous;
  int socket;
  uint64_t address;     /* hash of the client's address */
  bool is_working;      /* in the list `working` */
  bool has_answered;    /* at least one request was answered */
  bool is_shut;         /* its socket is shut down for reading */
  uint64_t deadline_ns; /* end of the current wait; UINT64_MAX: none */
  sp_cancel *cancel;    /* cancels the running query; NULL: the request cannot
                         * be cancelled */
} sp_connection;

/* Connections in the order in which they were added to the list. */
typedef struct sp_connection_list {
  sp_connection *first;
  sp_connection *last;
} sp_connection_list;

typedef struct sp_connections {
  /* Fixed after sp_connections_start(). */
  pthread_t thread;
  bool runs;
  size_t count_max;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  sp_connection_list waiting;
  sp_connection_list working;
  size_t count;
  size_t cancellable; /* number of working connections with a `cancel` */
  bool ending;
} sp_connections;

/* Start the thread. At most `count_max` connections may be open. Returns
 * SPANPROF_ERR_SYSTEM on failure. */
spanprof_status sp_connections_start(sp_connections *connections,
                                     size_t count_max);
/* Stop the thread. Does nothing if *connections is all zero. */
void sp_connections_stop(sp_connections *connections);

/* Add a new connection, which waits for headers. Returns NULL if there is no
 * memory; the connection is then limited only by libmicrohttpd's idle timeout.
 * If there are too many connections, either the new connection or an older one
 * is closed, after an answer with status 503. */
sp_connection *sp_connections_add(sp_connections *connections, int socket);

/* Change the state of a connection. After _body() it waits for a body, after
 * _work() its request is being processed, and after _idle() it waits for
 * headers. `cancel` cancels the query, and is NULL for other requests.
 * `connection` may be NULL. */
void sp_connections_body(sp_connections *connections,
                         sp_connection *connection);
void sp_connections_work(sp_connections *connections, sp_connection *connection,
                         sp_cancel *cancel);
void sp_connections_idle(sp_connections *connections,
                         sp_connection *connection);

void sp_connections_remove(sp_connections *connections,
                           sp_connection *connection);

/* Cancel all running queries. */
void sp_connections_cancel_all(sp_connections *connections,
                               sp_cancel_reason reason);

#endif
