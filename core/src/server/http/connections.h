/* The open connections, and the bounds on clients that are slow or gone.
 *
 * A connection waits for bytes of its client (headers, then a body), or its
 * request is at work. A thread looks at both kinds:
 * - A waiting connection is closed when a request takes too long to arrive.
 *   Where there are too many connections, in all or of one address, the one
 *   that has waited longest is closed in favour of a new one.
 * - A query at work is cancelled when its client has closed the connection.
 * The thread also repairs a fault of libmicrohttpd 0.9.75, which waits for
 * epoll's edges: it misses the end of a stream that came with its last bytes.
 * Shutting the socket down for reading makes another edge.
 *
 * Threads: libmicrohttpd's call all functions but start, cancel_all and end;
 * they remove a connection before they close its socket. */
#ifndef SP_CONNECTIONS_H
#define SP_CONNECTIONS_H

#include <pthread.h>

#include "../model/cancel.h"

/* Of all listeners together; fewer where the process may open fewer files. */
#define SP_CONNECTIONS_MAX 2048
/* Of one address, or of one IPv6 network of 64 bits; a proxy has one, too. */
#define SP_CONNECTIONS_OF_ADDRESS_MAX 1024

#define SP_HEADERS_SECONDS_MAX 30  /* of a connection's first request */
#define SP_IDLE_SECONDS_MAX    100 /* from one answer to the next headers */
#define SP_BODY_SECONDS_MAX    120

typedef struct sp_connection {
  struct sp_connection *next;
  struct sp_connection *previous;
  int socket;
  uint64_t address;     /* its hash */
  bool is_working;      /* in the list of those at work */
  bool has_answered;    /* at least one request */
  bool is_shut;         /* for reading */
  uint64_t deadline_ns; /* of what it waits for */
  sp_cancel *cancel; /* of the request at work; NULL: it cannot be cancelled */
} sp_connection;

/* The first is the one that joined first. */
typedef struct sp_connection_list {
  sp_connection *first;
  sp_connection *last;
} sp_connection_list;

typedef struct sp_connections {
  /* Fixed after sp_connections_start(). */
  pthread_t thread;
  bool runs;
  size_t count_max;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  sp_connection_list waiting;
  sp_connection_list working;
  size_t count;
  size_t cancellable; /* of those at work */
  bool ending;
} sp_connections;

/* SPANPROF_ERR_SYSTEM. */
spanprof_status sp_connections_start(sp_connections *connections,
                                     size_t count_max);
void sp_connections_end(sp_connections *connections); /* also of all zero */

/* A new connection, which waits for headers. NULL: no memory; it is then left
 * to libmicrohttpd's idle time. It may be one too many: then it is shut down
 * with a 503, or another one is. */
sp_connection *sp_connections_add(sp_connections *connections, int socket);

/* It waits for a body now; its request is at work; it waits for headers
 * again. `cancel` is that of a query, else NULL. NULL connections are fine. */
void sp_connections_body(sp_connections *connections,
                         sp_connection *connection);
void sp_connections_work(sp_connections *connections, sp_connection *connection,
                         sp_cancel *cancel);
void sp_connections_idle(sp_connections *connections,
                         sp_connection *connection);

void sp_connections_remove(sp_connections *connections,
                           sp_connection *connection);

/* Cancel all queries at work. */
void sp_connections_cancel_all(sp_connections *connections,
                               sp_cancel_reason reason);

#endif
