/* A store with some profiles, and functions that make calls to the server's
 * handlers. */
#ifndef CALLS_FIXTURE_H
#define CALLS_FIXTURE_H

#include "store_fixture.h"

#include <server/http/message/http.h>
#include <server/query/query.h>

static sp_store *calls_store;
static sp_http_routes calls_routes;
static sp_serve calls_serve;
static sp_cancel calls_cancel;
static bool calls_are_limited;

/* Store one of 10 profiles of the application "shop", which are 10 s apart.
 * Each has 70 ms outside spans and 30 ms in the span i + 1. */
static inline void shop_put(int i) {
  const sp_trace_id none = {0};
  sp_received *profile =
      fixture_profile("shop", FIXTURE_TIME + 10 * i * FIXTURE_SECOND);

  fixture_sample(profile, "main;idle", NULL, 0, none, 70000000);
  fixture_sample(profile, "main;work", "GET /", (uint64_t)i + 1, none,
                 30000000);
  fixture_put(calls_store, profile);
}

typedef struct answer {
  sp_http_response response;
  const char *text;
} answer;

static inline void answer_dispose(answer *a) {
  size_t i;

  for (i = 0; i < a->response.header_count; i++) {
    sp_mem_free(&sp_mem_default,
                (char *)(uintptr_t)a->response.headers[i].name);
    sp_mem_free(&sp_mem_default,
                (char *)(uintptr_t)a->response.headers[i].value);
  }
  sp_buffer_dispose(&a->response.body);
}

static inline answer call(const char *method, const char *path,
                          sp_text_pairs query, sp_text_pairs headers,
                          const char *body, size_t size) {
  sp_http_request request = {.method = method,
                             .path = path,
                             .query = query,
                             .headers = headers,
                             .body = body,
                             .body_size = size,
                             .is_limited = calls_are_limited,
                             .cancel = &calls_cancel};
  answer a = {.response = {.status = 200}};
  const char *allow;
  const sp_http_route *route;
  char full_path[256];
  bool has_allow;

  snprintf(full_path, sizeof full_path, "/pyroscope%s", path);
  request.full_path = full_path;
  sp_buffer_init(&a.response.body, &sp_mem_default);
  route = sp_http_routes_find(&calls_routes, method, path, &request.path_suffix,
                              &allow, &has_allow);
  CHECK(route);
  route->handler(route->data, &request, &a.response);
  sp_buffer_append(&a.response.body, "", 1);
  a.text = a.response.body.data;
  return a;
}

static inline answer post(const char *path, const char *type,
                          const char *body) {
  const sp_text_pair pairs[] = {{"Content-Type", type}};
  const sp_text_pairs headers = {pairs, 1};

  return call("POST", path, (sp_text_pairs){0}, headers, body, strlen(body));
}

static inline answer get(const char *path, const char *const (*parameters)[2],
                         size_t count) {
  sp_text_pair pairs[8];
  size_t i;

  for (i = 0; i < count; i++)
    pairs[i] = (sp_text_pair){parameters[i][0], parameters[i][1]};
  return call("GET", path, (sp_text_pairs){pairs, count}, (sp_text_pairs){0},
              NULL, 0);
}

static inline void check_has(const answer *a, int status, const char *part) {
  if (a->response.status != status || !strstr(a->text, part))
    fprintf(stderr, "%d %s\n  has no %s\n", a->response.status, a->text, part);
  CHECK_EQUAL(a->response.status, status);
  CHECK(strstr(a->text, part));
}

#define QUERIER "/querier.v1.QuerierService/"
#define RANGE   "\"start\":\"1699999000000\",\"end\":1700001000000"
#define SELECT  RANGE ",\"profileTypeID\":\"" FIXTURE_TYPE "\""
#define FROM    "1699999000"
#define UNTIL   "1700001000"

/* Run the tests with a store that has the profiles of "shop". */
static inline int calls_main(int argc, char **argv, const check_test *tests,
                             size_t count) {
  int failed, i;

  fixture_begin();
  calls_store = fixture_open();
  for (i = 0; i < 10; i++)
    shop_put(i);
  calls_serve = (sp_serve){.mem = &sp_mem_default,
                           .clock = sp_clock_system(),
                           .log = &fixture_log,
                           .store = calls_store};
  calls_routes = (sp_http_routes){.mem = &sp_mem_default};
  CHECK(!sp_query_routes(&calls_routes, &calls_serve));
  failed = check_main(argc, argv, tests, count);
  sp_http_routes_dispose(&calls_routes);
  sp_store_close(calls_store);
  fixture_end();
  return failed;
}

#endif
