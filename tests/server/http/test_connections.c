/* The limits of connections: their number, and the time in which a request must
 * arrive. */
#include "check.h"

#include <sched.h>
#include <server/http/connections.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static sp_connections connections;

typedef struct pair {
  int client;
  int server;
  sp_connection *connection;
} pair;

static void begin(size_t count_max) {
  connections = (sp_connections){0};
  CHECK(!sp_connections_start(&connections, count_max));
}

static pair pair_open(void) {
  int both[2];
  pair of;

  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, both));
  of = (pair){.client = both[0], .server = both[1]};
  of.connection = sp_connections_add(&connections, of.server);
  CHECK(of.connection);
  return of;
}

static void pair_close(const pair *of) {
  sp_connections_remove(&connections, of->connection);
  close(of->server);
  close(of->client);
}

/* Return everything that the client receives until the server closes the
 * connection. */
static const char *pair_read(const pair *of) {
  static char text[512];
  size_t size = 0;
  ssize_t n;

  while ((n = read(of->client, text + size, sizeof text - 1 - size)) > 0)
    size += (size_t)n;
  text[size] = '\0';
  return text;
}

static bool pair_is_open(const pair *of) {
  char byte;

  return recv(of->client, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

/* Let the deadline of a connection pass. */
static void pair_expire(const pair *of) {
  pthread_mutex_lock(&connections.lock);
  of->connection->deadline_ns = 1;
  pthread_mutex_unlock(&connections.lock);
}

static void a_late_request_is_closed_with_an_answer(void) {
  pair headers, body, kept;

  begin(10);
  headers = pair_open();
  body = pair_open();
  kept = pair_open();
  sp_connections_body(&connections, body.connection);
  sp_connections_work(&connections, kept.connection, NULL);
  sp_connections_idle(&connections, kept.connection);
  pair_expire(&headers);
  CHECK(strstr(pair_read(&headers), "HTTP/1.1 408 "));
  pair_expire(&body);
  CHECK(strstr(pair_read(&body), "the request took too long to arrive"));
  /* The client of this connection has got an answer and sent no other request,
   * so the connection is closed without an answer. */
  pair_expire(&kept);
  CHECK_TEXT("", pair_read(&kept));
  pair_close(&headers);
  pair_close(&body);
  pair_close(&kept);
  sp_connections_stop(&connections);
}

static void the_longest_waiting_connection_is_closed(void) {
  pair some[5];
  size_t i;

  begin(4);
  for (i = 0; i < 4; i++)
    some[i] = pair_open();
  sp_connections_work(&connections, some[0].connection, NULL);
  sp_connections_body(&connections, some[1].connection);
  some[4] = pair_open();
  CHECK(strstr(pair_read(&some[2]), "HTTP/1.1 503 "));
  for (i = 0; i < 5; i++)
    CHECK(i == 2 || pair_is_open(&some[i]));
  for (i = 0; i < 5; i++)
    pair_close(&some[i]);
  sp_connections_stop(&connections);
}

static void a_new_connection_is_refused_if_none_waits(void) {
  pair some[3];
  size_t i;

  begin(2);
  for (i = 0; i < 2; i++) {
    some[i] = pair_open();
    sp_connections_work(&connections, some[i].connection, NULL);
  }
  some[2] = pair_open();
  CHECK(strstr(pair_read(&some[2]), "Retry-After: 1\r\n"));
  CHECK(pair_is_open(&some[0]) && pair_is_open(&some[1]));
  for (i = 0; i < 3; i++)
    pair_close(&some[i]);
  sp_connections_stop(&connections);
}

static void a_disconnected_client_cancels_only_its_query(void) {
  sp_cancel cancels[2] = {{0}, {0}};
  pair some[2];
  size_t i;

  begin(10);
  for (i = 0; i < 2; i++) {
    some[i] = pair_open();
    sp_connections_work(&connections, some[i].connection, &cancels[i]);
  }
  shutdown(some[0].client, SHUT_WR);
  while (!sp_cancelled(&cancels[0]))
    sched_yield();
  CHECK_EQUAL(SP_CANCEL_CLIENT_GONE, atomic_load(&cancels[0].reason));
  sp_connections_cancel_all(&connections, SP_CANCEL_STOP);
  CHECK_EQUAL(SP_CANCEL_CLIENT_GONE, atomic_load(&cancels[0].reason));
  CHECK_EQUAL(SP_CANCEL_STOP, atomic_load(&cancels[1].reason));
  for (i = 0; i < 2; i++)
    pair_close(&some[i]);
  sp_connections_stop(&connections);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_late_request_is_closed_with_an_answer",
       a_late_request_is_closed_with_an_answer},
      {"the_longest_waiting_connection_is_closed",
       the_longest_waiting_connection_is_closed},
      {"a_new_connection_is_refused_if_none_waits",
       a_new_connection_is_refused_if_none_waits},
      {"a_disconnected_client_cancels_only_its_query",
       a_disconnected_client_cancels_only_its_query},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
