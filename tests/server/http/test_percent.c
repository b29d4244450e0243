/* Percent-encoding of addresses. */
#include "check.h"

#include <server/http/message/percent.h>

static void escapes_are_decoded_in_place(void) {
  static const char *const cases[][2] = {
      {"/a%20b", "/a b"}, {"%2e%2E%2f", "../"},
      {"%", "%"},         {"100%", "100%"},
      {"%4", "%4"},       {"%zz", "%zz"},
      {"%%41", "%A"},     {"%C3%bc", "\xc3\xbc"},
      {"", ""},           {"/ready%00", "/ready%00"},
  };
  char text[32];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    snprintf(text, sizeof text, "%s", cases[i][0]);
    CHECK_EQUAL(strlen(cases[i][1]), sp_percent_decode(text));
    CHECK_TEXT(cases[i][1], text);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"escapes_are_decoded_in_place", escapes_are_decoded_in_place},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
