/* The choice of a handler for a request. */
#include "check.h"

#include <server/http/message/http.h>

static void routes_nothing(void *data, const sp_http_request *request,
                           sp_http_response *response) {
  (void)data;
  (void)request;
  (void)response;
}

static void the_longest_path_wins_and_methods_are_listed(void) {
  static const sp_http_route given[] = {
      {.methods = "GET", .path = "/api/v1/*", .handler = routes_nothing},
      {.methods = "GET,POST", .path = "/api/v1/a", .handler = routes_nothing},
      {.methods = "POST",
       .path = "/ingest",
       .handler = routes_nothing,
       .flags = SP_HTTP_ALLOW_HEADER | SP_HTTP_ANYWHERE},
  };
  sp_http_routes routes = {.mem = &sp_mem_default};
  const char *rest, *allow;
  const sp_http_route *found;
  bool says;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(given); i++)
    CHECK(!sp_http_routes_add(&routes, &given[i]));
  found = sp_http_routes_find(&routes, "GET", "/api/v1/trace/1", &rest, &allow,
                              &says);
  CHECK_TEXT("/api/v1/*", found->path);
  CHECK_TEXT("trace/1", rest);
  found =
      sp_http_routes_find(&routes, "HEAD", "/api/v1/a", &rest, &allow, &says);
  CHECK_TEXT("/api/v1/a", found->path);
  CHECK(!sp_http_routes_find(&routes, "GET", "/ingest", &rest, &allow, &says));
  CHECK_TEXT("POST", allow);
  CHECK(says);
  CHECK(!sp_http_routes_find(&routes, "POS", "/ingest", &rest, &allow, &says));
  CHECK(sp_http_routes_find(&routes, "POST", "/base/path/ingest", &rest, &allow,
                            &says));
  CHECK(
      !sp_http_routes_find(&routes, "POST", "/xingest", &rest, &allow, &says));
  CHECK(!sp_http_routes_find(&routes, "GET", "/base/ingest", &rest, &allow,
                             &says));
  CHECK(!allow);
  found = sp_http_routes_find(&routes, "GET", "/api/v1/ingest", &rest, &allow,
                              &says);
  CHECK_TEXT("/api/v1/*", found->path);
  CHECK(!sp_http_routes_find(&routes, "GET", "/none", &rest, &allow, &says));
  CHECK(!allow);
  sp_http_routes_dispose(&routes);
}

static void a_weight_of_zero_refuses_gzip(void) {
  static const struct {
    const char *accept;
    bool takes;
  } cases[] = {
      {"gzip", true},       {"deflate, gzip;q=1.0, *;q=0.5", true},
      {"gzip; q=0", false}, {"gzip;q=0.000", false},
      {"gzip;q=0.5", true}, {"identity", false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    sp_text_pair pair = {"accept-encoding", cases[i].accept};
    sp_http_request request = {.headers = {&pair, 1}};

    CHECK_EQUAL(cases[i].takes, sp_http_accepts_gzip(&request));
  }
}

static void a_media_type_is_compared_without_case_and_parameters(void) {
  static const struct {
    const char *type;
    bool is_json;
  } cases[] = {
      {"application/json", true},
      {"Application/JSON ; charset=utf-8", true},
      {"application/json;", true},
      {"application/json\t", true},
      {"application/jsonx", false},
      {"application/json, text/plain", false},
      {"application/jso", false},
      {"", false},
      {NULL, false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++)
    CHECK_EQUAL(cases[i].is_json,
                sp_http_is_type(cases[i].type, "application/json"));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_longest_path_wins_and_methods_are_listed",
       the_longest_path_wins_and_methods_are_listed},
      {"a_weight_of_zero_refuses_gzip", a_weight_of_zero_refuses_gzip},
      {"a_media_type_is_compared_without_case_and_parameters",
       a_media_type_is_compared_without_case_and_parameters},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
