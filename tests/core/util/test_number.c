#include "util/text/number.h"

#include <string.h>

#include "check.h"

static void digits_are_read_and_skipped(void) {
  static const struct {
    const char *text;
    spanprof_status st;
    uint64_t number;
    const char *remaining;
  } rows[] = {
      {"0", SPANPROF_OK, 0, ""},
      {"007x", SPANPROF_OK, 7, "x"},
      {"18446744073709551615 ", SPANPROF_OK, UINT64_MAX, " "},
      {"18446744073709551616", SPANPROF_ERR_LIMIT, UINT64_MAX, ""},
      {"99999999999999999999999-", SPANPROF_ERR_LIMIT, UINT64_MAX, "-"},
      {"", SPANPROF_ERR_FORMAT, 0, ""},
      {" 1", SPANPROF_ERR_FORMAT, 0, " 1"},
      {"-1", SPANPROF_ERR_FORMAT, 0, "-1"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    const char *text = rows[i].text;
    uint64_t number = 1;

    CHECK_EQUAL(sp_number_read(&text, NULL, &number), rows[i].st);
    CHECK(number == rows[i].number);
    CHECK_TEXT(text, rows[i].remaining);
  }
}

static void digits_past_the_end_do_not_count(void) {
  const char *digits = "12345", *text = digits;
  uint64_t number;

  CHECK(!sp_number_read(&text, digits + 3, &number));
  CHECK_EQUAL(number, 123);
  CHECK(text == digits + 3);
  CHECK_EQUAL(sp_number_read(&text, digits + 3, &number), SPANPROF_ERR_FORMAT);
}

static void canonical_numbers_have_no_leading_zeros(void) {
  static const struct {
    const char *text;
    bool good;
    uint64_t number;
    const char *remaining;
  } rows[] = {
      {"0", true, 0, ""},
      {"12-3", true, 12, "-3"},
      {"18446744073709551615", true, UINT64_MAX, ""},
      {"18446744073709551616", false, 0, "18446744073709551616"},
      {"01", false, 0, "01"},
      {"-1", false, 0, "-1"},
      {"", false, 0, ""},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    const char *text = rows[i].text;
    uint64_t number = 0;

    CHECK_EQUAL(sp_number_read_canonical(&text, &number), rows[i].good);
    CHECK(number == rows[i].number);
    CHECK_TEXT(text, rows[i].remaining);
  }
}

static void a_number_is_the_whole_text_and_below_the_limit(void) {
  uint64_t number;

  CHECK(sp_number_is("65535", UINT16_MAX, &number) && number == 65535);
  CHECK(!sp_number_is("65536", UINT16_MAX, &number) && number == 0);
  CHECK(!sp_number_is("1 ", UINT16_MAX, &number));
  CHECK(!sp_number_is("", UINT64_MAX, &number));
  CHECK(!sp_number_is("18446744073709551616", UINT64_MAX, &number));
}

static void signed_numbers_cover_the_whole_range(void) {
  static const struct {
    const char *text;
    spanprof_status st;
    int64_t number;
  } rows[] = {
      {"+5", SPANPROF_OK, 5},
      {"-5", SPANPROF_OK, -5},
      {"-0", SPANPROF_OK, 0},
      {"9223372036854775807", SPANPROF_OK, INT64_MAX},
      {"9223372036854775808", SPANPROF_ERR_LIMIT, INT64_MAX},
      {"-9223372036854775808", SPANPROF_OK, INT64_MIN},
      {"-9223372036854775809", SPANPROF_ERR_LIMIT, INT64_MIN},
      {"-99999999999999999999", SPANPROF_ERR_LIMIT, INT64_MIN},
      {"", SPANPROF_ERR_FORMAT, 0},
      {"-", SPANPROF_ERR_FORMAT, 0},
      {"--1", SPANPROF_ERR_FORMAT, 0},
      {"1x", SPANPROF_ERR_FORMAT, 0},
      {" 1", SPANPROF_ERR_FORMAT, 0},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    int64_t number = 1;

    CHECK_EQUAL(sp_number_signed(rows[i].text,
                                 rows[i].text + strlen(rows[i].text), &number),
                rows[i].st);
    CHECK(number == rows[i].number);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"digits_are_read_and_skipped", digits_are_read_and_skipped},
      {"digits_past_the_end_do_not_count", digits_past_the_end_do_not_count},
      {"canonical_numbers_have_no_leading_zeros",
       canonical_numbers_have_no_leading_zeros},
      {"a_number_is_the_whole_text_and_below_the_limit",
       a_number_is_the_whole_text_and_below_the_limit},
      {"signed_numbers_cover_the_whole_range",
       signed_numbers_cover_the_whole_range},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
