/* Tests the option --base-path. */
#include "check.h"

#include <server/http/message/base_path.h>

static void valid_paths_are_accepted(void) {
  static const char *const valid[] = {"/a", "/team/profiles", "/a.b-c_d~1",
                                      "/..."};
  static const char *const invalid[] = {"",     "/",      "a",     "/a/",
                                        "//a",  "/a//b",  "/.",    "/a/..",
                                        "/a b", "/a?b=1", "/a%20", "/<script>"};
  char long_path[300];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(valid); i++)
    CHECK(sp_base_path_is(valid[i]));
  for (i = 0; i < SP_COUNT_OF(invalid); i++)
    CHECK(!sp_base_path_is(invalid[i]));
  memset(long_path, 'a', sizeof long_path);
  long_path[0] = '/';
  long_path[sizeof long_path - 1] = '\0';
  CHECK(!sp_base_path_is(long_path));
}

static void the_base_path_is_removed(void) {
  CHECK_TEXT(sp_base_path_strip("/p", "/p/api/v1/spans"), "/api/v1/spans");
  CHECK_TEXT(sp_base_path_strip("/p", "/p/"), "/");
  CHECK_TEXT(sp_base_path_strip("/p", "/p"), "");
  CHECK_TEXT(sp_base_path_strip("/p", "/pages"), "/pages");
  CHECK_TEXT(sp_base_path_strip("/p", "/ready"), "/ready");
  CHECK_TEXT(sp_base_path_strip(NULL, "/ready"), "/ready");
}

static void the_query_is_kept(void) {
  static const sp_text_pair pairs[] = {{"query", "{a=\"b c\"}"}, {"x", ""}};
  const sp_http_request request = {.query = {.pairs = pairs, .count = 2}};
  sp_http_response response = {.status = 200};

  sp_buffer_init(&response.body, &sp_mem_default);
  sp_base_path_redirect("/team/p", &request, &response);
  CHECK_EQUAL(response.status, 307);
  CHECK_EQUAL(response.header_count, 1);
  CHECK_TEXT(response.headers[0].name, "Location");
  CHECK_TEXT(response.headers[0].value, "p/?query=%7Ba%3D%22b+c%22%7D&x=");
  sp_mem_free(&sp_mem_default, (char *)response.headers[0].name);
  sp_mem_free(&sp_mem_default, (char *)response.headers[0].value);
  sp_buffer_dispose(&response.body);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"valid paths are accepted", valid_paths_are_accepted},
      {"the base path is removed", the_base_path_is_removed},
      {"the query is kept", the_query_is_kept},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
