/* The HTTP server with more requests than it can process at the same time. */
#include "http_fixture.h"

static atomic_int waiting;

/* The handler of a query that runs until it is cancelled. */
static void load_wait(void *data, const sp_http_request *request,
                      sp_http_response *response) {
  atomic_fetch_add(&waiting, 1);
  while (!sp_cancelled(request->cancel))
    sched_yield();
  http_echo(data, request, response);
}

/* A handler that answers 8 MiB. */
static void load_large_answer(void *data, const sp_http_request *request,
                              sp_http_response *response) {
  static char text[64 << 10];
  int i;

  (void)data;
  (void)request;
  sp_http_answer(response, 200, "text/plain", "");
  for (i = 0; i < 128; i++)
    sp_buffer_append(&response->body, text, sizeof text);
}

static atomic_int asked, running;
static atomic_bool may_finish;

/* The handler of a query that needs much memory. */
static void load_large_query(void *data, const sp_http_request *request,
                             sp_http_response *response) {
  http_echo(data, request, response);
  if (request->is_limited) {
    sp_http_set(response, "X-Said", "too early");
    response->needs_large = true;
    atomic_fetch_add(&asked, 1);
    return;
  }
  CHECK_EQUAL(0, atomic_fetch_add(&running, 1));
  while (!atomic_load(&may_finish))
    sched_yield();
  atomic_fetch_sub(&running, 1);
}

static void load_start(void) {
  const sp_http_route given[] = {
      {.methods = "POST",
       .path = "/large",
       .handler = http_echo,
       .body_max = 32 << 20},
      {.methods = "GET", .path = "/large-answer", .handler = load_large_answer},
      {.methods = "GET",
       .path = "/wait",
       .handler = load_wait,
       .flags = SP_HTTP_SLOW},
      {.methods = "GET",
       .path = "/large-query",
       .handler = load_large_query,
       .flags = SP_HTTP_SLOW},
      {.methods = "GET",
       .path = "/small",
       .handler = http_echo,
       .flags = SP_HTTP_SLOW},
      {.methods = "GET",
       .path = "/change",
       .handler = load_large_query,
       .flags = SP_HTTP_SLOW | SP_HTTP_CHANGES},
  };

  http_begin(given, SP_COUNT_OF(given), NULL);
}

/* The server waits for the last byte of three large bodies. They use at most
 * the limit for large bodies, so there is memory for small ones. */
static void small_bodies_are_accepted_during_large_ones(void) {
  static char large[28 << 20];
  int slow[3], refused;
  char got[32] = "";
  size_t i;

  load_start();
  for (i = 0; i < SP_COUNT_OF(slow); i++) {
    int head = snprintf(large, 200,
                        "POST /large HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        sizeof large);

    slow[i] = http_connect();
    http_send(slow[i], large, (size_t)head);
    http_send(slow[i], large, sizeof large - 1);
  }
  HAS(http_ask_text("POST /large HTTP/1.0\r\nContent-Length: 4\r\n\r\nhalf"),
      "POST /large whole 4");
  for (i = 0; i < SP_COUNT_OF(slow); i++)
    http_send(slow[i], "x", 1);
  for (i = 0, refused = 0; i < SP_COUNT_OF(slow); i++) {
    CHECK(recv(slow[i], got, 12, MSG_WAITALL) == 12);
    refused += strcmp(got, "HTTP/1.1 400") == 0;
    close(slow[i]);
  }
  CHECK(refused >= 1);
  http_stop();
}

/* Clients request answers of 8 MiB and do not read them. The server has memory
 * for four. */
static void unread_answers_are_bounded(void) {
  static const char ask[] =
      "GET /large-answer HTTP/1.1\r\nHost: localhost\r\n\r\n";
  int clients[12], small = 4096, refused = 0;
  char got[128] = "";
  size_t i;

  load_start();
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    clients[i] = http_connect();
    setsockopt(clients[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_send(clients[i], ask, sizeof ask - 1);
    CHECK(recv(clients[i], got, sizeof got - 1, MSG_WAITALL) > 0);
    if (strncmp(got, "HTTP/1.1 503", 12) == 0)
      refused++;
    else
      CHECK(strncmp(got, "HTTP/1.1 200", 12) == 0);
  }
  CHECK_EQUAL(refused, 8);
  HAS(http_ask_text("GET /none HTTP/1.0\r\n\r\n"), " 404 ");
  for (i = 0; i < SP_COUNT_OF(clients); i++)
    close(clients[i]);
  http_stop();
}

/* One large query runs, and 32 wait for it. A small query does not wait for
 * them. */
static void large_queries_wait_only_for_each_other(void) {
  static const char ask[] = "GET /large-query HTTP/1.0\r\n\r\n";
  int clients[40], answered[2] = {0};
  char got[512];
  size_t i;

  load_start();
  atomic_store(&may_finish, false);
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    clients[i] = http_connect();
    http_send(clients[i], ask, sizeof ask - 1);
  }
  while (atomic_load(&asked) < 40 || !atomic_load(&running) ||
         sp_http_server_inflight(server) > 33)
    sched_yield();
  HAS(http_ask_text("GET /small HTTP/1.0\r\n\r\n"), "GET /small whole");
  atomic_store(&may_finish, true);
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    const ssize_t size = recv(clients[i], got, sizeof got - 1, MSG_WAITALL);
    const bool refused = strncmp(got + 9, "503", 3) == 0;

    CHECK(size > 12);
    got[size] = '\0';
    HAS(got, refused ? "Retry-After: " : "GET /large-query whole");
    CHECK(!strstr(got, "too early"));
    answered[refused]++;
    close(clients[i]);
  }
  CHECK_EQUAL(answered[0], 33);
  CHECK_EQUAL(answered[1], 7);
  HAS(http_ask_text(ask), "GET /large-query whole");
  /* A call that changes something is never run a second time with more
   * memory. */
  HAS(http_ask_text("GET /change HTTP/1.0\r\n\r\n"), "GET /change whole");
  CHECK_EQUAL(atomic_load(&asked), 41);
  http_stop();
}

/* Three queries run when the server stops. Those that wait are not started. */
static void waiting_queries_are_refused_at_the_stop(void) {
  static const char ask[] = "GET /wait HTTP/1.0\r\n\r\n";
  int clients[20], answered[2] = {0};
  char got[16] = "";
  size_t i;

  load_start();
  atomic_store(&waiting, 0);
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    clients[i] = http_connect();
    http_send(clients[i], ask, sizeof ask - 1);
  }
  while (atomic_load(&waiting) < 3 ||
         sp_http_server_inflight(server) < SP_COUNT_OF(clients))
    sched_yield();
  http_stop();
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    CHECK(recv(clients[i], got, 12, MSG_WAITALL) == 12);
    answered[strcmp(got + 9, "503") == 0]++;
    close(clients[i]);
  }
  CHECK_EQUAL(answered[0], 3);
  CHECK_EQUAL(answered[1], 17);
}

static void a_query_is_cancelled_if_its_client_disconnects(void) {
  static const char ask[] = "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const struct linger reset = {.l_onoff = 1};
  int clients[100];
  size_t i;

  load_start();
  atomic_store(&waiting, 0);
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    clients[i] = http_connect();
    http_send(clients[i], ask, sizeof ask - 1);
  }
  while (atomic_load(&waiting) < 3 ||
         sp_http_server_inflight(server) < SP_COUNT_OF(clients))
    sched_yield();
  /* Half of the clients disconnect with a reset. */
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    if (i % 2)
      setsockopt(clients[i], SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(clients[i]);
  }
  while (sp_http_server_inflight(server))
    sched_yield();
  /* Most of the waiting queries were never started. */
  CHECK(atomic_load(&waiting) < 20);
  http_stop();
}

/* Three queries run, and 512 wait. */
static void the_number_of_waiting_queries_is_bounded(void) {
  static const char ask[] = "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n";
  int clients[515];
  size_t i;

  load_start();
  atomic_store(&waiting, 0);
  for (i = 0; i < SP_COUNT_OF(clients); i++) {
    clients[i] = http_connect();
    http_send(clients[i], ask, sizeof ask - 1);
    while (i < 3 && atomic_load(&waiting) < (int)i + 1)
      sched_yield();
  }
  while (sp_http_server_inflight(server) < SP_COUNT_OF(clients))
    sched_yield();
  HAS(http_ask_text("GET /wait HTTP/1.0\r\n\r\n"), "HTTP/1.1 503");
  HAS(http_ask_text("GET /wait HTTP/1.0\r\n\r\n"), "Retry-After: 1\r\n");
  HAS(http_ask_text("GET /wait HTTP/1.0\r\n\r\n"),
      "too many queries are waiting, try again\n");
  HAS(http_ask_text("GET /large-answer HTTP/1.0\r\n\r\n"), "HTTP/1.1 200");
  for (i = 0; i < SP_COUNT_OF(clients); i++)
    close(clients[i]);
  while (sp_http_server_inflight(server))
    sched_yield();
  http_stop();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_query_is_cancelled_if_its_client_disconnects",
       a_query_is_cancelled_if_its_client_disconnects},
      {"the_number_of_waiting_queries_is_bounded",
       the_number_of_waiting_queries_is_bounded},
      {"small_bodies_are_accepted_during_large_ones",
       small_bodies_are_accepted_during_large_ones},
      {"unread_answers_are_bounded", unread_answers_are_bounded},
      {"large_queries_wait_only_for_each_other",
       large_queries_wait_only_for_each_other},
      {"waiting_queries_are_refused_at_the_stop",
       waiting_queries_are_refused_at_the_stop},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
