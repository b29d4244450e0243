/* Uploads to a running server from one thread, as many as it accepts:
 *
 * bench_server_load PORT CONNECTIONS SECONDS ruby|large|PPROF [RATE]
 *
 * Each connection sends profiles of 20 applications one after the other, and
 * waits for each answer. With RATE, all connections together send RATE uploads
 * per second, and the time of an upload is measured from the moment when it was
 * due. After every 25th upload, the span that only this upload has is queried.
 * Prints one line of JSON. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <util/system/clock.h>
#include <util/memory/hash_index.h>

#include "shop.h"

#define APPLICATIONS 20
#define VARIANTS     5
#define ASK_EVERY    25
#define ANSWER_BYTES ((size_t)1 << 20)
#define LOAD_WAIT_NS (30 * SP_NS_PER_S) /* longest wait for an answer */

typedef struct connection {
  int socket;
  sp_buffer out;
  size_t sent;
  char *in;
  size_t got;
  uint64_t begin_ns;
  uint64_t number; /* number of the upload */
  int64_t time_ns;
  bool queries;
  bool waits; /* waits until an upload is due */
  struct connection *next_idle;
} connection;

typedef struct times {
  uint32_t *us;
  size_t count, room;
} times;

typedef struct load {
  uint16_t port;
  uint64_t end_ns;
  uint64_t every_ns; /* time between two uploads; 0: each follows the answer of
                      * the previous one */
  uint64_t due_ns;
  connection *idle;
  shop_template templates[APPLICATIONS][VARIANTS];
  uint64_t uploads;
  uint64_t bytes;
  times pushes, queried;
  uint64_t refused, lost, open;
  char why[200]; /* reason of the first refusal */
} load;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void times_add(times *list, uint64_t ns) {
  if (list->count == list->room) {
    list->room = list->room * 2 + 1024;
    list->us = realloc(list->us, list->room * sizeof *list->us);
    if (!list->us)
      die("memory");
  }
  list->us[list->count++] = (uint32_t)(ns / 1000);
}

static int times_order(const void *a_of, const void *b_of) {
  const uint32_t a = *(const uint32_t *)a_of, b = *(const uint32_t *)b_of;

  return (a > b) - (a < b);
}

static double times_ms(times *list, double part) {
  if (!list->count)
    return -1;
  qsort(list->us, list->count, sizeof *list->us, times_order);
  return list->us[(size_t)((double)(list->count - 1) * part)] / 1e3;
}

static uint64_t span_of(uint64_t number) {
  return sp_hash_mix(sp_hash_mix(SP_HASH_SEED, number), (uint64_t)getpid()) | 1;
}

static int64_t value_of(uint64_t number) {
  return (int64_t)(number % 1000000 * 1000 + 7);
}

static void begin(load *load, connection *at, const char *path,
                  const char *type, const sp_buffer *body) {
  sp_buffer_clear(&at->out);
  sp_buffer_format(&at->out,
                   "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                   "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                   path, load->port, type, body->size);
  sp_buffer_append(&at->out, body->data, body->size);
  at->sent = at->got = 0;
  at->begin_ns = sp_monotonic_ns();
}

static void begin_push(load *load, connection *at) {
  const uint64_t number = load->uploads++;
  const uint32_t application = (uint32_t)(number % APPLICATIONS);
  shop_end end = {.value_ns = value_of(number), .span_id = span_of(number)};
  sp_buffer gzipped, body;
  char service[32];

  sp_buffer_init(&gzipped, &sp_mem_default);
  sp_buffer_init(&body, &sp_mem_default);
  at->number = number;
  at->queries = false;
  end.time_ns = at->time_ns = (int64_t)sp_clock_unix_ns(sp_clock_system());
  shop_upload(&gzipped,
              &load->templates[application][number / APPLICATIONS % VARIANTS],
              &end);
  snprintf(service, sizeof service, "app-%u", application);
  shop_push(&body, service, &gzipped);
  load->bytes += gzipped.size;
  begin(load, at, "/push.v1.PusherService/Push", "application/proto", &body);
  sp_buffer_dispose(&gzipped);
  sp_buffer_dispose(&body);
}

static void begin_ask(load *load, connection *at) {
  const int64_t ms = at->time_ns / 1000000;
  sp_buffer body;

  sp_buffer_init(&body, &sp_mem_default);
  sp_buffer_format(&body,
                   "{\"profileTypeID\":\"process_cpu:cpu:nanoseconds:cpu:"
                   "nanoseconds\",\"labelSelector\":\"{service_name=\\\"app-"
                   "%u\\\"}\",\"spanSelector\":[\"%016llx\"],\"start\":%lld,"
                   "\"end\":%lld}",
                   (unsigned)(at->number % APPLICATIONS),
                   (unsigned long long)span_of(at->number),
                   (long long)ms - 60000, (long long)ms + 60000);
  at->queries = true;
  begin(load, at, "/querier.v1.QuerierService/SelectMergeSpanProfile",
        "application/json", &body);
  sp_buffer_dispose(&body);
}

static void judge(load *load, connection *at) {
  const uint64_t took = sp_monotonic_ns() - at->begin_ns;
  const bool good = strncmp(at->in, "HTTP/1.1 200", 12) == 0;
  char total[64];

  snprintf(total, sizeof total, "\"total\":\"%lld\"",
           (long long)value_of(at->number));
  if (at->queries) {
    times_add(&load->queried, took);
    load->lost += !good || !strstr(at->in, total);
  } else {
    times_add(&load->pushes, took);
    load->refused += !good;
  }
  if (!good && !load->why[0])
    snprintf(load->why, sizeof load->why, "%.190s", at->in);
}

/* Returns whether the answer is complete. */
static bool whole(const connection *at) {
  const char *body = strstr(at->in, "\r\n\r\n");
  const char *length = strcasestr(at->in, "\r\nContent-Length:");

  return body && length &&
         at->got >=
             (size_t)(body + 4 - at->in) + strtoul(length + 17, NULL, 10);
}

static void end(load *load, connection *at) {
  close(at->socket);
  at->socket = -1;
  load->open--;
}

/* Start the next request, wait until one is due, or finish the connection. */
static void next(load *load, connection *at) {
  if (!at->queries && at->number % ASK_EVERY == 0) {
    begin_ask(load, at);
  } else if (load->every_ns) {
    at->waits = true;
    at->next_idle = load->idle;
    load->idle = at;
  } else if (sp_monotonic_ns() < load->end_ns) {
    begin_push(load, at);
  } else {
    end(load, at);
  }
}

static void move(load *load, connection *at) {
  ssize_t n = 1;

  while (at->socket >= 0 && !at->waits && n > 0) {
    if (at->sent < at->out.size) {
      n = send(at->socket, at->out.data + at->sent, at->out.size - at->sent,
               MSG_NOSIGNAL);
      at->sent += n > 0 ? (size_t)n : 0;
    } else {
      n = recv(at->socket, at->in + at->got, ANSWER_BYTES - 1 - at->got, 0);
      at->got += n > 0 ? (size_t)n : 0;
      at->in[at->got] = '\0';
      if (n > 0 && whole(at)) {
        judge(load, at);
        next(load, at);
      }
    }
    if (n == 0 || (n < 0 && errno != EAGAIN))
      die("the server closed a connection");
  }
}

/* Start uploads that are due. Returns the nanoseconds until the next one. */
static uint64_t begin_due(load *load) {
  uint64_t now = sp_monotonic_ns();
  connection *at;

  while (load->idle && (load->due_ns <= now || now >= load->end_ns)) {
    at = load->idle;
    load->idle = at->next_idle;
    at->waits = false;
    if (now >= load->end_ns) {
      end(load, at);
      continue;
    }
    begin_push(load, at);
    at->begin_ns = load->due_ns;
    load->due_ns += load->every_ns;
    move(load, at);
    now = sp_monotonic_ns();
  }
  if (!load->idle)
    return LOAD_WAIT_NS;
  return load->due_ns > now ? load->due_ns - now : 0;
}

/* Wait for an event, or until the next upload is due, with a resolution below a
 * millisecond. Busy waiting would take a core from the server. */
static int wait_for(int poll, struct epoll_event *events, int most,
                    uint64_t ns) {
  struct pollfd readable = {.fd = poll, .events = POLLIN};
  const struct timespec wait = {.tv_sec = (time_t)(ns / SP_NS_PER_S),
                                .tv_nsec = (long)(ns % SP_NS_PER_S)};

  if (ppoll(&readable, 1, &wait, NULL) < 0)
    return -1;
  return epoll_wait(poll, events, most, 0);
}

static void start(load *load, connection *at, int poll) {
  const struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons(load->port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                              .data.ptr = at};
  const int on = 1;

  at->in = malloc(ANSWER_BYTES);
  sp_buffer_init(&at->out, &sp_mem_default);
  at->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (!at->in || at->socket < 0 ||
      connect(at->socket, (const struct sockaddr *)&to, sizeof to))
    die("connect");
  setsockopt(at->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (fcntl(at->socket, F_SETFL, O_NONBLOCK) ||
      epoll_ctl(poll, EPOLL_CTL_ADD, at->socket, &event))
    die("epoll");
  load->open++;
}

static void run(load *load, size_t count) {
  connection *connections = calloc(count, sizeof *connections);
  struct epoll_event events[64];
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  int i, n;

  if (!connections || poll < 0)
    die("memory");
  for (i = 0; i < (int)count; i++)
    start(load, &connections[i], poll);
  for (i = (int)count - 1; i >= 0; i--) {
    connections[i].queries = true;
    next(load, &connections[i]);
    move(load, &connections[i]);
  }
  while (load->open) {
    const uint64_t wait_ns = load->every_ns ? begin_due(load) : LOAD_WAIT_NS;

    if (!load->open)
      break;
    n = wait_for(poll, events, 64, wait_ns);
    if (n < 0 || (n == 0 && !load->every_ns))
      die("no answer for 30 s");
    for (i = 0; i < n; i++)
      move(load, events[i].data.ptr);
  }
  for (i = 0; i < (int)count; i++) {
    sp_buffer_dispose(&connections[i].out);
    free(connections[i].in);
  }
  close(poll);
  free(connections);
}

static void prepare(load *load, const char *what) {
  const shop_shape shape = strcmp(what, "large") == 0 ? SHOP_LARGE : SHOP_RUBY;
  const bool made = strcmp(what, "large") == 0 || strcmp(what, "ruby") == 0;
  sp_buffer pprof;
  uint32_t i, k;

  sp_buffer_init(&pprof, &sp_mem_default);
  if (!made && !shop_read(what, &pprof))
    exit(1);
  for (i = 0; i < APPLICATIONS; i++)
    for (k = 0; k < VARIANTS; k++) {
      if (made) {
        sp_buffer_clear(&pprof);
        shop_profile(&pprof, &shape, i, k);
      }
      if (!shop_template_make(&load->templates[i][k], pprof.data, pprof.size)) {
        fprintf(stderr, "%s is not a pprof\n", what);
        exit(1);
      }
    }
  sp_buffer_dispose(&pprof);
}

int main(int argc, char **argv) {
  static load all;
  double seconds, took;
  uint64_t begin_ns;

  if (argc != 5 && argc != 6) {
    fprintf(stderr,
            "usage: %s PORT CONNECTIONS SECONDS ruby|large|PPROF [RATE]\n",
            argv[0]);
    return 2;
  }
  all.port = (uint16_t)atoi(argv[1]);
  seconds = atof(argv[3]);
  prepare(&all, argv[4]);
  begin_ns = sp_monotonic_ns();
  all.due_ns = begin_ns;
  all.every_ns = argc == 6 ? (uint64_t)(1e9 / atof(argv[5])) : 0;
  all.end_ns = begin_ns + (uint64_t)(seconds * 1e9);
  run(&all, (size_t)atoi(argv[2]));
  took = (double)(sp_monotonic_ns() - begin_ns) / 1e9;
  printf("{\"pushes\": %zu, \"seconds\": %.3f, \"bytes_each\": %.0f, "
         "\"median_ms\": %.1f, \"p99_ms\": %.1f, \"max_ms\": %.1f, "
         "\"refused\": %llu, \"queried\": %zu, \"lost\": %llu, "
         "\"queried_median_ms\": %.1f, \"queried_p99_ms\": %.1f}\n",
         all.pushes.count, took,
         (double)all.bytes / (double)(all.uploads ? all.uploads : 1),
         times_ms(&all.pushes, 0.5), times_ms(&all.pushes, 0.99),
         times_ms(&all.pushes, 1), (unsigned long long)all.refused,
         all.queried.count, (unsigned long long)all.lost,
         times_ms(&all.queried, 0.5), times_ms(&all.queried, 0.99));
  if (all.why[0])
    fprintf(stderr, "%s\n", all.why);
  return all.refused || all.lost;
}
