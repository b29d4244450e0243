/* Bytes out of base64 text. */
#include "check.h"

#include <server/model/base64.h>

/* The examples of RFC 4648, 10, and what stands behind digits. */
static void digits_become_bytes_up_to_what_is_none(void) {
  static const struct {
    const char *text, *bytes;
    size_t digits, size;
  } cases[] = {
      {"", "", 0, 0},
      {"Zg==", "f", 2, 1},
      {"Zm8=", "fo", 3, 2},
      {"Zm9v", "foo", 4, 3},
      {"Zm9vYmFy", "foobar", 8, 6},
      {"Zm9v YmFy", "foo", 4, 3},
      {"Z", "", 1, 0},
      {"=", "", 0, 0},
      {"/+8=", "\xff\xef", 3, 2},
      {"_-8=", "", 0, 0},
  };
  char out[SP_BASE64_ROOM(16)];
  size_t bytes, i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    CHECK_EQUAL(sp_base64_read(cases[i].text, strlen(cases[i].text),
                               SP_BASE64_STANDARD, out, &bytes),
                cases[i].digits);
    CHECK_EQUAL(bytes, cases[i].size);
    CHECK(memcmp(out, cases[i].bytes, bytes) == 0);
  }
}

static void the_alphabet_of_urls_is_read_where_it_is_allowed(void) {
  char out[SP_BASE64_ROOM(4)];
  size_t bytes;

  CHECK_EQUAL(sp_base64_read("_-+/", 4, SP_BASE64_EITHER, out, &bytes), 4);
  CHECK_EQUAL(bytes, 3);
  CHECK(memcmp(out, "\xff\xef\xbf", 3) == 0);
}

static void every_text_fits_in_the_room_for_it(void) {
  size_t bytes, i;

  for (i = 0; i <= 9; i++) {
    char *out = malloc(SP_BASE64_ROOM(i)); /* a sanitizer watches its end */

    CHECK_EQUAL(sp_base64_read("AAAAAAAAA", i, SP_BASE64_STANDARD, out, &bytes),
                i);
    CHECK(bytes <= SP_BASE64_ROOM(i));
    free(out);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"digits_become_bytes_up_to_what_is_none",
       digits_become_bytes_up_to_what_is_none},
      {"the_alphabet_of_urls_is_read_where_it_is_allowed",
       the_alphabet_of_urls_is_read_where_it_is_allowed},
      {"every_text_fits_in_the_room_for_it",
       every_text_fits_in_the_room_for_it},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
