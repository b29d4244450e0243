/* Decoding of base64. */
#include "check.h"

#include <server/model/base64.h>

/* The examples of RFC 4648, section 10, and digits that are followed by other
 * text. */
static void digits_are_decoded_up_to_another_character(void) {
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
  char out[SP_BASE64_CAPACITY(16)];
  size_t bytes, i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    CHECK_EQUAL(sp_base64_read(cases[i].text, strlen(cases[i].text),
                               SP_BASE64_STANDARD, out, &bytes),
                cases[i].digits);
    CHECK_EQUAL(bytes, cases[i].size);
    CHECK(memcmp(out, cases[i].bytes, bytes) == 0);
  }
}

static void the_url_safe_alphabet_is_optional(void) {
  char out[SP_BASE64_CAPACITY(4)];
  size_t bytes;

  CHECK_EQUAL(sp_base64_read("_-+/", 4, SP_BASE64_EITHER, out, &bytes), 4);
  CHECK_EQUAL(bytes, 3);
  CHECK(memcmp(out, "\xff\xef\xbf", 3) == 0);
}

static void every_text_fits_in_its_capacity(void) {
  size_t bytes, i;

  for (i = 0; i <= 9; i++) {
    /* The buffer has exactly the capacity, so AddressSanitizer detects writes
     * beyond it. */
    char *out = malloc(SP_BASE64_CAPACITY(i));

    CHECK_EQUAL(sp_base64_read("AAAAAAAAA", i, SP_BASE64_STANDARD, out, &bytes),
                i);
    CHECK(bytes <= SP_BASE64_CAPACITY(i));
    free(out);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"digits_are_decoded_up_to_another_character",
       digits_are_decoded_up_to_another_character},
      {"the_url_safe_alphabet_is_optional", the_url_safe_alphabet_is_optional},
      {"every_text_fits_in_its_capacity", every_text_fits_in_its_capacity},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
