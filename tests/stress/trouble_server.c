#include "trouble_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include "push.pb-c.h"
#include "stress.h"

#define TROUBLE_REQUEST_BYTES (8u << 20)
#define TROUBLE_SLOW_MS       400
#define TROUBLE_CUT_BYTES     100

/* The modes that TROUBLE_MIXED uses in rotation. */
static const trouble_mode trouble_mixed[] = {
    TROUBLE_NONE,    TROUBLE_CUT,  TROUBLE_UNANSWERED, TROUBLE_NONE,
    TROUBLE_GARBAGE, TROUBLE_HALF, TROUBLE_REDIRECT,   TROUBLE_NONE,
};

static bool all_send(int peer, const void *bytes, size_t size) {
  return send(peer, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool answer_send(int peer, int status, const char *more) {
  char text[512];
  int length = snprintf(text, sizeof text,
                        "HTTP/1.1 %d Whatever\r\nContent-Length: 2\r\n"
                        "Content-Type: application/proto\r\n%s\r\n{}",
                        status, more);

  return all_send(peer, text, (size_t)length);
}

static void profiles_store(trouble_server *server, const uint8_t *body,
                           size_t size) {
  size_t message_size = 0, i, k;
  uint8_t *message = tally_unpack(body, size, &message_size);
  Push__V1__PushRequest *request =
      message ? push__v1__push_request__unpack(NULL, message_size, message)
              : NULL;
  const char *why;

  STRESS_REQUIRE(request, "a body of %zu bytes is not a PushRequest", size);
  for (i = 0; i < request->n_series; i++)
    for (k = 0; k < request->series[i]->n_samples; k++) {
      const ProtobufCBinaryData *raw =
          &request->series[i]->samples[k]->raw_profile;

      STRESS_REQUIRE(tally_add(&server->stored, raw->data, raw->len, &why),
                     "a bad profile: %s", why);
    }
  push__v1__push_request__free_unpacked(request, NULL);
  free(message);
}

/* Answer a request whose body has arrived. Returns whether the connection stays
 * open. */
static bool request_answer(trouble_server *server, trouble_mode mode, int peer,
                           const uint8_t *body, size_t size) {
  static const char half[] = "HTTP/1.1 200 OK\r\nContent-Length: 10";
  static const char garbage[] = "\x01\x02 this is not HTTP\n\n\xff";
  char more[64] = "";

  switch (mode) {
  case TROUBLE_STATUS:
    if (server->retry_after_s)
      snprintf(more, sizeof more, "Retry-After: %u\r\n", server->retry_after_s);
    return answer_send(peer, server->status, more);
  case TROUBLE_GARBAGE:
    all_send(peer, garbage, sizeof garbage - 1);
    return false;
  case TROUBLE_REDIRECT:
    return answer_send(peer, 302, "Location: http://127.0.0.1:9/other\r\n");
  case TROUBLE_HANG:
    return true;
  case TROUBLE_CUT:
    return false;
  default:
    break;
  }
  profiles_store(server, body, size);
  if (mode == TROUBLE_SLOW)
    stress_sleep_ms(TROUBLE_SLOW_MS);
  if (mode == TROUBLE_HALF)
    all_send(peer, half, sizeof half - 1);
  return mode != TROUBLE_HALF && mode != TROUBLE_UNANSWERED &&
         answer_send(peer, 200, "");
}

/* Returns the position where the body of a request starts, or 0 if the headers
 * are incomplete. *body_bytes is the length of the body according to the
 * headers. */
static size_t head_read(const char *bytes, size_t size, size_t *body_bytes) {
  static const char name[] = "\r\nContent-Length:";
  const char *end = memmem(bytes, size, "\r\n\r\n", 4);
  const char *at;

  if (!end)
    return 0;
  *body_bytes = 0;
  for (at = bytes; at + sizeof name < end; at++)
    if (strncasecmp(at, name, sizeof name - 1) == 0)
      *body_bytes = strtoul(at + sizeof name - 1, NULL, 10);
  return (size_t)(end + 4 - bytes);
}

/* Serve one connection until either side closes it. */
static void peer_serve(trouble_server *server, int peer, char *bytes) {
  size_t size = 0, head, body_bytes = 0;
  bool open = true;

  while (open) {
    trouble_mode mode = server->mode;
    ssize_t got = recv(peer, bytes + size, TROUBLE_REQUEST_BYTES - 1 - size, 0);

    if (got <= 0)
      break;
    size += (size_t)got;
    bytes[size] = '\0';
    head = head_read(bytes, size, &body_bytes);
    if (head == 0)
      continue;
    if (mode == TROUBLE_MIXED)
      mode = trouble_mixed[server->requests % STRESS_COUNT_OF(trouble_mixed)];
    if (mode == TROUBLE_CUT && size >= head + TROUBLE_CUT_BYTES)
      body_bytes = 0;
    if (size < head + body_bytes)
      continue;
    /* The library asks for the server's features by a GET request, which has no
     * body. */
    if (strncmp(bytes, "GET ", 4) == 0) {
      open = answer_send(peer, 404, "");
      size = 0;
      continue;
    }
    server->requests++;
    open =
        request_answer(server, mode, peer, (uint8_t *)bytes + head, body_bytes);
    size = 0;
  }
}

static void *server_run(void *data) {
  trouble_server *server = data;
  char *bytes = malloc(TROUBLE_REQUEST_BYTES);
  int peer;

  while ((peer = accept(server->listener, NULL, NULL)) >= 0) {
    peer_serve(server, peer, bytes);
    /* In the mode TROUBLE_CUT, close the connection with a reset, as a dying
     * server does. */
    setsockopt(peer, SOL_SOCKET, SO_LINGER,
               &(struct linger){.l_onoff = server->mode == TROUBLE_CUT},
               sizeof(struct linger));
    close(peer);
  }
  free(bytes);
  return NULL;
}

void trouble_server_start(trouble_server *server) {
  struct sockaddr_in name = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof name;

  tally_init(&server->stored);
  server->requests = 0;
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  STRESS_REQUIRE(
      server->listener >= 0 &&
          bind(server->listener, (struct sockaddr *)&name, sizeof name) == 0 &&
          listen(server->listener, 16) == 0 &&
          getsockname(server->listener, (struct sockaddr *)&name, &length) == 0,
      "no listener");
  snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u",
           ntohs(name.sin_port));
  STRESS_REQUIRE(pthread_create(&server->thread, NULL, server_run, server) == 0,
                 "no thread");
}

void trouble_server_stop(trouble_server *server) {
  shutdown(server->listener, SHUT_RDWR);
  pthread_join(server->thread, NULL);
  close(server->listener);
}
