#include "check.h"
#include "failing_mem.h"
#include "settings/http_headers.h"

static spanprof_status headers_of(const char *text, sp_http_headers *out) {
  const sp_option_value given = {.option = "http_headers", .text = text};

  return sp_http_headers_parse(out, &sp_mem_default, &given);
}

static const char *headers_text(const sp_http_headers *headers) {
  static char text[4096];
  size_t i, used = 0;

  text[0] = '\0';
  for (i = 0; i < headers->count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                             i ? "|" : "", headers->lines[i]);
  return text;
}

static void headers_of_all_three_forms_are_read(void) {
  static const struct {
    const char *text;
    const char *expected;
  } table[] = {
      {"", ""},
      {" \n ", ""},
      {"X-A: b", "X-A: b"},
      {"X-A:b\nX-C:  d e \n", "X-A: b|X-C: d e"},
      {"X-A: b\r\nX-C: d=e,f\r\n\r\n", "X-A: b|X-C: d=e,f"},
      {"Authorization: Basic dXNlcjpwYXNz==",
       "Authorization: Basic dXNlcjpwYXNz=="},
      {"x-a=b,x-c = d=e:f ,", "x-a: b|x-c: d=e:f"},
      {"{}", ""},
      {" { } ", ""},
      {"{\"X-A\":\"b\"}", "X-A: b"},
      {"{\"X-A\": \"b, c\" , \"X-D\":\"\\u00e9\\\"\\/\\ud83d\\ude00\"}",
       "X-A: b, c|X-D: é\"/\xf0\x9f\x98\x80"},
      {"X-Empty:", ""},
      {"{\"X-Empty\":\"\"}", ""},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_http_headers headers;

    CHECK_EQUAL(headers_of(table[i].text, &headers), SPANPROF_OK);
    CHECK_TEXT(headers_text(&headers), table[i].expected);
    sp_http_headers_dispose(&headers);
  }
}

static void headers_that_are_wrong_are_refused_without_values(void) {
  static const struct {
    const char *text;
    const char *sentence; /* part of the error message */
  } table[] = {
      {"hunter2", "has no colon in header 1"},
      {"X-A: b\nhunter2", "has no colon in header 2"},
      {"x-a=b,hunter2", "has no equals sign in header 2"},
      {": hunter2", "has a header without a name"},
      {"X A: hunter2", "has a header name with an invalid character"},
      {"X-\xc3\xa9: hunter2", "has a header name with an invalid character"},
      {"X-A: hun\rter2", "control character in the value of header X-A"},
      {"X-A: \x01hunter2", "control character in the value of header X-A"},
      {"X-A: hunter2\xff", "value that is not UTF-8 for header X-A"},
      {"Content-Type: hunter2",
       "has the header Content-Type, which spanprof sets"},
      {"content-length: 7",
       "has the header content-length, which spanprof sets"},
      {"Expect: hunter2", "has the header Expect, which spanprof sets"},
      {"{\"X-A\":\"hunter2\\r\\nX-B: c\"}", "control character in the value"},
      {"{\"X-A\\u0000\":\"hunter2\"}", "header name with an invalid character"},
      {"{", "a quoted string expected at byte 2"},
      {"{\"a\"", "a colon expected at byte 5"},
      {"{\"a\":", "a quoted string expected at byte 6"},
      {"{\"a\":1}", "a quoted string expected at byte 6"},
      {"{\"a\":\"hunter2", "the end of a string expected at byte 14"},
      {"{\"a\":\"hunter2\"", ", or } expected at byte 15"},
      {"{\"a\":\"hunter2\"} x", "the end expected at byte 17"},
      {"{\"a\":\"hunter2\",}", "a quoted string expected at byte 16"},
      {"{\"a\":\"\\x\"}", "a valid escape expected at byte 7"},
      {"{\"a\":\"\\", "a valid escape expected at byte 7"},
      {"{\"a\":\"\\u12\"}", "a character after \\u expected at byte 7"},
      {"{\"a\":\"\\ud800\"}", "a character after \\u expected at byte 7"},
      {"{\"a\":\"\\ud800\\u0041\"}",
       "a character after \\u expected at byte 7"},
      {"{\"a\":{\"b\":\"hunter2\"}}", "a quoted string expected at byte 6"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_http_headers headers;

    CHECK_EQUAL(headers_of(table[i].text, &headers), SPANPROF_ERR_ARGUMENT);
    CHECK_EQUAL(headers.count, 0);
    CHECK(strncmp(spanprof_last_error(), "http_headers ", 13) == 0);
    CHECK(!strstr(spanprof_last_error(), "hunter2"));
    if (!strstr(spanprof_last_error(), table[i].sentence))
      CHECK_TEXT(spanprof_last_error(), table[i].sentence);
  }
}

static void headers_are_found_in_any_case(void) {
  sp_http_headers headers;

  CHECK_EQUAL(headers_of("x-SCOPE-orgid: a", &headers), SPANPROF_OK);
  CHECK(sp_http_headers_have(&headers, "X-Scope-OrgID"));
  CHECK(!sp_http_headers_have(&headers, "X-Scope"));
  sp_http_headers_dispose(&headers);
}

static void headers_beyond_sixty_four_are_refused(void) {
  char text[65 * 5 + 1] = "";
  sp_http_headers headers;
  size_t i;

  for (i = 0; i < 65; i++)
    strcat(text, "x: y\n");
  CHECK_EQUAL(headers_of(text, &headers), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "has more than 64 headers"));
}

static void headers_parse_with(const sp_mem *mem) {
  static const char *const table[] = {"X-A: b\nX-C: d", "a=b,c=d",
                                      "{\"a\":\"b\",\"c\":\"\\u00e9\"}"};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    const sp_option_value given = {.option = "http_headers", .text = table[i]};
    sp_http_headers headers;
    spanprof_status st = sp_http_headers_parse(&headers, mem, &given);

    CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
    sp_http_headers_dispose(&headers);
  }
}

static void headers_survive_every_failed_allocation(void) {
  failing_mem_sweep(headers_parse_with);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"all three forms are read", headers_of_all_three_forms_are_read},
      {"wrong headers are refused, without values",
       headers_that_are_wrong_are_refused_without_values},
      {"headers are found in any case", headers_are_found_in_any_case},
      {"more than 64 are refused", headers_beyond_sixty_four_are_refused},
      {"every failed allocation is survived",
       headers_survive_every_failed_allocation},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
