#include "util/text/hex.h"

#include "check.h"

static void written_digits_are_read_back(void) {
  static const unsigned char bytes[] = {0x00, 0x7f, 0x80, 0xff,
                                        0x12, 0xab, 0xcd, 0xef};
  char digits[2 * sizeof bytes + 1];
  uint64_t number = 0;

  sp_hex_write(bytes, sizeof bytes, digits);
  CHECK_TEXT(digits, "007f80ff12abcdef");
  CHECK(sp_hex_read(digits, 16, &number));
  CHECK(number == UINT64_C(0x007f80ff12abcdef));
  CHECK(sp_hex_read("ABcd", 3, &number) && number == 0xabc);
}

static void missing_or_invalid_digits_are_refused(void) {
  uint64_t number = 7;

  CHECK(!sp_hex_read("abc", 4, &number));
  CHECK(!sp_hex_read("+1", 2, &number));
  CHECK(!sp_hex_read("0x", 2, &number));
  CHECK(!sp_hex_read(" 1", 2, &number));
  CHECK_EQUAL(number, 7);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"written_digits_are_read_back", written_digits_are_read_back},
      {"missing_or_invalid_digits_are_refused",
       missing_or_invalid_digits_are_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
