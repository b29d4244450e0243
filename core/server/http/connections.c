#include "connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "util/memory/hash_index.h"
#include "util/system/clock.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

/* Time between two checks for disconnected clients: IDLE while no query runs,
 * else WORK. */
#define CONNECTIONS_IDLE_NS (200 * SP_NS_PER_MS)
#define CONNECTIONS_WORK_NS (25 * SP_NS_PER_MS)

static const char connections_late[] =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
    "Content-Type: text/plain\r\nContent-Length: 35\r\n\r\n"
    "the request took too long to arrive";

static const char connections_full[] =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
    "Retry-After: 1\r\nContent-Type: text/plain\r\nContent-Length: 46\r\n\r\n"
    "too many connections are open, try again later";

static sp_connection_list *connections_list(sp_connections *connections,
                                            const sp_connection *connection) {
  return connection->is_working ? &connections->working : &connections->waiting;
}

static void connections_unlink(sp_connections *connections,
                               sp_connection *connection) {
  sp_connection_list *list = connections_list(connections, connection);

  *(connection->previous ? &connection->previous->next : &list->first) =
      connection->next;
  *(connection->next ? &connection->next->previous : &list->last) =
      connection->previous;
}

static void connections_link(sp_connections *connections,
                             sp_connection *connection, bool is_working) {
  sp_connection_list *list;

  connection->is_working = is_working;
  list = connections_list(connections, connection);
  connection->next = NULL;
  connection->previous = list->last;
  *(list->last ? &list->last->next : &list->first) = connection;
  list->last = connection;
}

/* Move the connection to the end of the list for its new state. */
static void connections_move(sp_connections *connections,
                             sp_connection *connection, bool is_working,
                             sp_cancel *cancel) {
  connections->cancellable -= connection->cancel != NULL;
  connections->cancellable += cancel != NULL;
  connection->cancel = cancel;
  connections_unlink(connections, connection);
  connections_link(connections, connection, is_working);
}

/* Returns whether the client has closed the connection, or the connection is
 * broken. */
static bool connections_is_closed(const sp_connection *connection) {
  char byte;
  const ssize_t size =
      recv(connection->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

  return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}

/* Send `answer` and shut the socket down, so that libmicrohttpd closes it. If
 * an earlier request of this connection was answered, the client does not
 * expect another answer, so `answer` is not sent. */
static void connections_close(sp_connection *connection, const char *answer) {
  connection->is_shut = true;
  connection->deadline_ns = UINT64_MAX;
  if (!connection->has_answered)
    (void)!send(connection->socket, answer, strlen(answer),
                MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(connection->socket, SHUT_RDWR);
}

static void connections_check(sp_connection *connection) {
  if (connection->is_shut || !connections_is_closed(connection))
    return;
  connection->is_shut = true;
  shutdown(connection->socket, SHUT_RD);
  if (connection->cancel)
    sp_cancel_because(connection->cancel, SP_CANCEL_CLIENT_GONE);
}

static void connections_check_all(sp_connections *connections,
                                  uint64_t now_ns) {
  sp_connection *connection;

  for (connection = connections->working.first; connection;
       connection = connection->next)
    connections_check(connection);
  for (connection = connections->waiting.first; connection;
       connection = connection->next) {
    connections_check(connection);
    if (now_ns >= connection->deadline_ns)
      connections_close(connection, connections_late);
  }
}

static void *connections_run(void *argument) {
  sp_connections *connections = argument;
  uint64_t now_ns, all_ns = 0;
  sp_connection *connection;

  pthread_mutex_lock(&connections->lock);
  while (!connections->ending) {
    now_ns = sp_monotonic_ns();
    if (now_ns >= all_ns) {
      connections_check_all(connections, now_ns);
      all_ns = now_ns + CONNECTIONS_IDLE_NS;
    }
    for (connection = connections->working.first; connection;
         connection = connection->next)
      if (connection->cancel)
        connections_check(connection);
    sp_clock_wait(sp_clock_system(), &connections->wake, &connections->lock,
                  !connections->count        ? UINT64_MAX
                  : connections->cancellable ? now_ns + CONNECTIONS_WORK_NS
                                             : all_ns);
  }
  pthread_mutex_unlock(&connections->lock);
  return NULL;
}

spanprof_status sp_connections_start(sp_connections *connections,
                                     size_t count_max) {
  int error;

  connections->count_max = count_max;
  pthread_mutex_init(&connections->lock, NULL);
  sp_condition_init(&connections->wake);
  error = sp_own_thread_start(&connections->thread, "sp-connections",
                              SP_OWN_STACK_SMALL, connections_run, connections);
  connections->runs = !error;
  return error ? sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                               "cannot start a thread")
               : SPANPROF_OK;
}

void sp_connections_stop(sp_connections *connections) {
  if (!connections->runs)
    return;
  pthread_mutex_lock(&connections->lock);
  connections->ending = true;
  pthread_cond_signal(&connections->wake);
  pthread_mutex_unlock(&connections->lock);
  pthread_join(connections->thread, NULL);
  connections->runs = false;
}

static uint64_t connections_address(int socket) {
  struct sockaddr_storage peer = {0};
  const struct sockaddr_in *v4 = (const struct sockaddr_in *)&peer;
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&peer;
  socklen_t size = sizeof peer;
  uint64_t network;

  if (getpeername(socket, (struct sockaddr *)&peer, &size))
    return 0;
  if (peer.ss_family == AF_INET)
    return sp_hash_mix(SP_HASH_SEED, v4->sin_addr.s_addr);
  if (peer.ss_family != AF_INET6)
    return 0;
  if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
    memcpy(&network, v6->sin6_addr.s6_addr + 8, sizeof network);
  else
    memcpy(&network, v6->sin6_addr.s6_addr, sizeof network);
  return sp_hash_mix(SP_HASH_SEED, network);
}

static size_t connections_of_address(const sp_connection_list *list,
                                     uint64_t address) {
  const sp_connection *connection;
  size_t count = 0;

  for (connection = list->first; connection; connection = connection->next)
    count += connection->address == address && !connection->is_shut;
  return count;
}

/* Close the connection that has waited longest. If `address` is not NULL, only
 * connections from this address are considered. Returns false if no connection
 * is waiting. */
static bool connections_close_oldest(sp_connections *connections,
                                     const uint64_t *address) {
  sp_connection *connection;

  for (connection = connections->waiting.first; connection;
       connection = connection->next)
    if (connection->deadline_ns != UINT64_MAX &&
        (!address || connection->address == *address)) {
      connections_close(connection, connections_full);
      return true;
    }
  return false;
}

/* If there are too many connections, close one. The caller holds `lock`. */
static void connections_close_surplus(sp_connections *connections,
                                      sp_connection *added) {
  const uint64_t address = added->address;
  bool closed = true;

  if (connections->count > connections->count_max)
    closed = connections_close_oldest(connections, NULL);
  else if (connections->count > SP_CONNECTIONS_OF_ADDRESS_MAX &&
           connections_of_address(&connections->waiting, address) +
                   connections_of_address(&connections->working, address) >=
               SP_CONNECTIONS_OF_ADDRESS_MAX)
    closed = connections_close_oldest(connections, &address);
  if (!closed)
    connections_close(added, connections_full);
}

static void connections_wait(sp_connection *connection, uint64_t seconds) {
  if (!connection->is_shut)
    connection->deadline_ns = sp_monotonic_ns() + seconds * SP_NS_PER_S;
}

sp_connection *sp_connections_add(sp_connections *connections, int socket) {
  sp_connection *connection = sp_mem_zero(&sp_mem_default, sizeof *connection);

  if (!connection)
    return NULL;
  connection->socket = socket;
  connection->address = connections_address(socket);
  connections_wait(connection, SP_HEADERS_SECONDS_MAX);
  pthread_mutex_lock(&connections->lock);
  connections->count++;
  connections_close_surplus(connections, connection);
  connections_link(connections, connection, false);
  if (connections->count == 1)
    pthread_cond_signal(&connections->wake);
  pthread_mutex_unlock(&connections->lock);
  return connection;
}

void sp_connections_body(sp_connections *connections,
                         sp_connection *connection) {
  if (!connection)
    return;
  pthread_mutex_lock(&connections->lock);
  connections_move(connections, connection, false, NULL);
  connection->has_answered = false;
  connections_wait(connection, SP_BODY_SECONDS_MAX);
  pthread_mutex_unlock(&connections->lock);
}

void sp_connections_work(sp_connections *connections, sp_connection *connection,
                         sp_cancel *cancel) {
  if (!connection)
    return;
  pthread_mutex_lock(&connections->lock);
  connections_move(connections, connection, true, cancel);
  if (cancel && connections->cancellable == 1)
    pthread_cond_signal(&connections->wake);
  if (cancel && connection->is_shut)
    sp_cancel_because(cancel, SP_CANCEL_CLIENT_GONE);
  pthread_mutex_unlock(&connections->lock);
}

void sp_connections_idle(sp_connections *connections,
                         sp_connection *connection) {
  if (!connection)
    return;
  pthread_mutex_lock(&connections->lock);
  connections_move(connections, connection, false, NULL);
  connection->has_answered = true;
  connections_wait(connection, SP_IDLE_SECONDS_MAX);
  pthread_mutex_unlock(&connections->lock);
}

void sp_connections_remove(sp_connections *connections,
                           sp_connection *connection) {
  if (!connection)
    return;
  pthread_mutex_lock(&connections->lock);
  connections_unlink(connections, connection);
  connections->cancellable -= connection->cancel != NULL;
  connections->count--;
  pthread_mutex_unlock(&connections->lock);
  sp_mem_free(&sp_mem_default, connection);
}

void sp_connections_cancel_all(sp_connections *connections,
                               sp_cancel_reason reason) {
  sp_connection *connection;

  if (!connections->runs)
    return;
  pthread_mutex_lock(&connections->lock);
  for (connection = connections->working.first; connection;
       connection = connection->next)
    if (connection->cancel)
      sp_cancel_because(connection->cancel, reason);
  pthread_mutex_unlock(&connections->lock);
}
