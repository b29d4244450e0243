#include "export/http/http_answer.h"

#include "check.h"

/* Tue, 21 Oct 2025 07:28:00 GMT */
#define OCTOBER_S 1761031680

static void retry_after_is_seconds_or_a_date(void) {
  static const struct {
    const char *value;
    bool valid;
    uint64_t seconds;
  } rows[] = {
      {"0", true, 0},
      {"120", true, 120},
      {" 7 ", true, 7},
      {"99999999999999999999999999", true, 365u * 24 * 3600},
      {"Tue, 21 Oct 2025 07:28:30 GMT", true, 30},
      {"Tuesday, 21-Oct-25 07:29:00 GMT", true, 60},
      {"Tue Oct 21 07:29:00 2025", true, 60},
      {"Mon, 20 Oct 2025 07:28:30 GMT", true, 0},
      {"", false, 0},
      {"soon", false, 0},
      {"-5", false, 0},
      {"1.5", false, 0},
      {"12x", false, 0},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    uint64_t ns = 0;

    CHECK_EQUAL(sp_http_retry_after(rows[i].value, strlen(rows[i].value),
                                    OCTOBER_S * SP_NS_PER_S, &ns),
                rows[i].valid);
    if (rows[i].valid)
      CHECK_EQUAL(ns / SP_NS_PER_S, rows[i].seconds);
  }
}

static void headers_are_found_in_any_case(void) {
  const char *line = "rEtry-aFTER:\t 12 \r\n", *value;
  size_t size;

  CHECK(sp_http_header_value(line, strlen(line), "Retry-After", &value, &size));
  CHECK_EQUAL(size, 2);
  CHECK(memcmp(value, "12", 2) == 0);
  CHECK(!sp_http_header_value(line, 5, "Retry-After", &value, &size));
  CHECK(!sp_http_header_value("Retry-After-X: 1", 16, "Retry-After", &value,
                              &size));
}

static void messages_are_one_printable_line(void) {
  static const struct {
    const char *body;
    const char *message;
  } rows[] = {
      {"", ""},
      {"404 page not found\n", "404 page not found"},
      {"<html>\n<body>no</body>", "<html>"},
      {"{\"code\":\"invalid_argument\",\"message\":\"no profiles received\"}",
       "invalid_argument: no profiles received"},
      {"{ \"message\" : \"a \\\"b\\\" \\u00e9\\n c\" }\n",
       "a \"b\" \xc3\xa9  c"},
      {"{\"title\":\"Bad Request\",\"detail\":\"limit is from 1\"}",
       "limit is from 1"},
      {"{\"message\":\"cut", "{\"message\":\"cut"},
      {"{\"message\":17}", "{\"message\":17}"},
      {"{\"message\":\"a\\", "{\"message\":\"a\\"},
      {"{\"message\":\"a\\u12", "{\"message\":\"a\\u12"},
      {"{}", "{}"},
      {"a\x01\xff z", "a?? z"},
      {"\x1f\x8b\x08...", ""},
  };
  char message[SP_HTTP_MESSAGE_BYTES];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    sp_http_message(rows[i].body, strlen(rows[i].body), message);
    CHECK_TEXT(message, rows[i].message);
  }
}

static void long_messages_are_truncated(void) {
  static char body[100000];
  char message[SP_HTTP_MESSAGE_BYTES];

  memset(body, 'x', sizeof body);
  sp_http_message(body, sizeof body, message);
  CHECK_EQUAL(strlen(message), SP_HTTP_MESSAGE_BYTES - 1);
  memcpy(body, "{\"code\":\"", 9);
  memcpy(body + sizeof body - 20, "\",\"message\":\"yyyy\"}", 19);
  sp_http_message(body, sizeof body, message);
  CHECK_EQUAL(strlen(message), 63 + 2 + 4);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"retry_after_is_seconds_or_a_date", retry_after_is_seconds_or_a_date},
      {"headers_are_found_in_any_case", headers_are_found_in_any_case},
      {"messages_are_one_printable_line", messages_are_one_printable_line},
      {"long_messages_are_truncated", long_messages_are_truncated},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
