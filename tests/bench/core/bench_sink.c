#include "bench_sink.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define SINK_HEAD_MAX 16384

static const char sink_answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n"
    "Content-Length: 0\r\n\r\n";

/* Returns the size of the request's headers, including the empty line, or 0 if
 * they are incomplete. */
static size_t head_bytes(const char *head) {
  const char *end = strstr(head, "\r\n\r\n");

  return end ? (size_t)(end - head) + 4 : 0;
}

static size_t body_bytes(const char *head) {
  const char *field = strcasestr(head, "\r\nContent-Length:");

  return field ? strtoul(field + 17, NULL, 10) : 0;
}

/* Receive one request. Returns false if the client has closed the connection.
 */
static bool request_receive(int client) {
  char head[SINK_HEAD_MAX + 1], rest[65536];
  size_t have = 0, whole = 0, left;
  ssize_t got;

  while (whole == 0 && have < SINK_HEAD_MAX) {
    got = read(client, head + have, SINK_HEAD_MAX - have);
    if (got <= 0)
      return false;
    have += (size_t)got;
    head[have] = '\0';
    whole = head_bytes(head);
  }
  left = body_bytes(head);
  left -= left < have - whole ? left : have - whole;
  while (left > 0) {
    got = read(client, rest, left < sizeof rest ? left : sizeof rest);
    if (got <= 0)
      return false;
    left -= (size_t)got;
  }
  return write(client, sink_answer, sizeof sink_answer - 1) > 0;
}

/* Start a process for each connection, because a client may keep its connection
 * open. */
static void sink_serve(int listening) {
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    int client = accept(listening, NULL, NULL);

    if (client < 0)
      continue;
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (request_receive(client))
        continue;
      _exit(0);
    }
    close(client);
  }
}

const char *bench_sink_start(void) {
  static char address[64];
  struct sockaddr_in at = {.sin_family = AF_INET,
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (listening < 0 || bind(listening, (struct sockaddr *)&at, size) != 0 ||
      listen(listening, 16) != 0 ||
      getsockname(listening, (struct sockaddr *)&at, &size) != 0)
    bench_die("there is no free port on the loopback interface");
  snprintf(address, sizeof address, "http://127.0.0.1:%u",
           (unsigned)ntohs(at.sin_port));
  fflush(NULL);
  switch (fork()) {
  case -1:
    bench_die("the sink's process cannot be started");
  case 0:
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sink_serve(listening);
  }
  close(listening);
  return address;
}
