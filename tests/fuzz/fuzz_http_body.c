/* Sends requests to all routes, with and without a body. The input is a line
 * "METHOD PATH?QUERY", header lines, an empty line, and the body. Every request
 * must get an answer, which is never an internal server error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/http/message/percent.h"
#include "server/server_routes.h"
#include "server/store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAIRS_MAX 32

static struct {
  char path[64];
  sp_log log;
  sp_serve_options options;
  sp_serve serve;
  sp_http_routes routes;
} fuzz;

typedef struct fuzz_pairs {
  sp_text_pair pairs[PAIRS_MAX];
  size_t count;
} fuzz_pairs;

static void fuzz_end(void) {
  static const char *const kinds[] = {"", "-wal", "-shm", ".lock"};
  char path[80];
  size_t i;

  sp_http_routes_dispose(&fuzz.routes);
  sp_store_close(fuzz.serve.store);
  for (i = 0; i < SP_COUNT_OF(kinds); i++) {
    snprintf(path, sizeof path, "%s%s", fuzz.path, kinds[i]);
    unlink(path);
  }
}

static void fuzz_begin(void) {
  const sp_store_options store = {.mem = &sp_mem_default,
                                  .clock = sp_clock_system(),
                                  .log = &fuzz.log,
                                  .path = fuzz.path,
                                  .max_bytes = (uint64_t)64 << 20};

  snprintf(fuzz.path, sizeof fuzz.path, "/tmp/spanprof-fuzz-%d.db",
           (int)getpid());
  sp_log_init(&fuzz.log, NULL, NULL, SPANPROF_LOG_OFF, sp_clock_system());
  fuzz.options = (sp_serve_options){.window_past_ns = -1,
                                    .window_future_ns = -1,
                                    .upload_bytes = (size_t)64 << 20,
                                    .limits = &sp_limits_own};
  fuzz.serve = (sp_serve){.mem = &sp_mem_default,
                          .clock = sp_clock_system(),
                          .log = &fuzz.log,
                          .options = &fuzz.options};
  fuzz.routes.mem = &sp_mem_default;
  if (sp_store_open(&fuzz.serve.store, &store) ||
      sp_server_routes(&fuzz.routes, &fuzz.serve))
    abort();
  atexit(fuzz_end);
}

static void add_pair(fuzz_pairs *pairs, const char *name, const char *value) {
  if (pairs->count < PAIRS_MAX)
    pairs->pairs[pairs->count++] = (sp_text_pair){name, value};
}

/* The next line of the head, NUL-terminated. Returns NULL at the end of the
 * head. */
static char *next_line(char **at) {
  char *line = *at, *end = line ? strchr(line, '\n') : NULL;

  *at = end ? end + 1 : NULL;
  if (end)
    *end = '\0';
  return line && *line ? line : NULL;
}

static void read_query(char *text, fuzz_pairs *query) {
  char *save = NULL, *pair, *value;

  for (pair = strtok_r(text, "&", &save); pair;
       pair = strtok_r(NULL, "&", &save)) {
    value = strchr(pair, '=');
    if (value)
      *value++ = '\0';
    sp_percent_decode(pair);
    if (value)
      sp_percent_decode(value);
    add_pair(query, pair, value ? value : "");
  }
}

static void answer(sp_http_request *request) {
  sp_http_response response = {.status = 200};
  const sp_http_route *route;
  const char *allow;
  bool says;
  size_t i;

  sp_buffer_init(&response.body, &sp_mem_default);
  route = sp_http_routes_find(&fuzz.routes, request->method, request->path,
                              &request->path_suffix, &allow, &says);
  if (route && request->body_size > route->body_max) {
    request->body = "";
    request->body_size = 0;
    request->fault = SP_HTTP_FAULT_TOO_LARGE;
  }
  if (route && !(route->early && route->early(route->data, request, &response)))
    route->handler(route->data, request, &response);
  if (response.status < 200 || response.status > 599 ||
      response.status == 500 || response.header_count > SP_HTTP_HEADERS_MAX ||
      sp_buffer_status(&response.body))
    abort();
  for (i = 0; i < response.header_count; i++) {
    sp_mem_free(&sp_mem_default, (char *)(uintptr_t)response.headers[i].name);
    sp_mem_free(&sp_mem_default, (char *)(uintptr_t)response.headers[i].value);
  }
  sp_buffer_dispose(&response.body);
}

/* Send a request. `head` is NUL-terminated. */
static void request_send(char *head, const char *body, size_t body_size) {
  sp_cancel cancel = {0};
  fuzz_pairs headers = {.count = 0}, query = {.count = 0};
  sp_http_request request = {.body = body,
                             .body_size = body_size,
                             .path_suffix = "",
                             .cancel = &cancel};
  char *line = next_line(&head), *path = line ? strchr(line, ' ') : NULL;
  char *value;

  if (!path)
    return;
  *path++ = '\0';
  request.method = line;
  request.path = request.full_path = path;
  value = strchr(path, '?');
  if (value) {
    *value++ = '\0';
    read_query(value, &query);
  }
  sp_percent_decode(path);
  while ((line = next_line(&head))) {
    value = strchr(line, ':');
    if (!value)
      continue;
    *value++ = '\0';
    add_pair(&headers, line, value + strspn(value, " "));
  }
  request.headers = (sp_text_pairs){headers.pairs, headers.count};
  request.query = (sp_text_pairs){query.pairs, query.count};
  answer(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = size ? memmem(data, size, "\n\n", 2) : NULL;
  const size_t head_size = end ? (size_t)(end - data) + 1 : size;
  const size_t body_at = end ? head_size + 1 : size;
  char *head = malloc(head_size + 1), *body = malloc(size - body_at + 1);

  if (!fuzz.serve.store)
    fuzz_begin();
  if (!head || !body)
    abort();
  if (size) {
    memcpy(head, data, head_size);
    memcpy(body, data + body_at, size - body_at);
  }
  head[head_size] = '\0';
  body[size - body_at] = '\0'; /* the server also terminates the body */
  request_send(head, body, size - body_at);
  free(head);
  free(body);
  return 0;
}
