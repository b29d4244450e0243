/* The tables of a received profile: each item is stored once, and memory has a
 * limit. */
#include "check.h"

#include <server/model/received.h>
#include <util/system/status.h>

static uint32_t received_text(sp_received *profile, const char *text) {
  return sp_received_add_text(profile, text, strlen(text));
}

static void equal_items_have_one_number(void) {
  sp_received *profile;
  sp_received_line line = {.line = 3};
  uint32_t main_name, function, place, stack;

  CHECK(!sp_received_new(&profile, &sp_mem_default, 1 << 20));
  main_name = received_text(profile, "main");
  CHECK_EQUAL(main_name, received_text(profile, "main"));
  CHECK_EQUAL(0, received_text(profile, ""));
  function = sp_received_add_function(profile, main_name, 0, 1);
  CHECK(function != sp_received_add_function(profile, main_name, 0, 2));
  line.function = function;
  place = sp_received_add_location(profile, &line, 1, 0x10);
  CHECK_EQUAL(place, sp_received_add_location(profile, &line, 1, 0x20));
  CHECK(place != sp_received_add_location(profile, NULL, 0, 0x20));
  stack = sp_received_add_stack(profile, &place, 1);
  CHECK(stack != 0);
  CHECK_EQUAL(stack, sp_received_add_stack(profile, &place, 1));
  CHECK_EQUAL(0, sp_received_add_stack(profile, NULL, 0));
  CHECK(!sp_received_status(profile));
  sp_received_free(profile);
}

static void labels_are_sorted_and_the_first_of_a_name_counts(void) {
  sp_received *profile;
  sp_received_pair pairs[4];
  uint32_t set;

  CHECK(!sp_received_new(&profile, &sp_mem_default, 1 << 20));
  pairs[0].name = received_text(profile, "region");
  pairs[0].value = received_text(profile, "eu");
  pairs[1].name = received_text(profile, "action");
  pairs[1].value = received_text(profile, "index");
  pairs[2].name = pairs[0].name;
  pairs[2].value = received_text(profile, "us");
  pairs[3].name = received_text(profile, "empty");
  pairs[3].value = 0;
  set = sp_received_add_labels(profile, pairs, 4);
  CHECK_EQUAL(2, profile->label_sets[set].count);
  CHECK_TEXT("eu", sp_received_label(profile, set, "region"));
  CHECK_EQUAL(pairs[1].name,
              profile->pairs[profile->label_sets[set].first].name);
  CHECK(!sp_received_label(profile, set, "empty"));
  CHECK_EQUAL(0, sp_received_add_labels(profile, &pairs[3], 1));
  sp_received_free(profile);
}

static void more_than_bytes_max_is_refused(void) {
  sp_received *profile;
  char text[32];
  int i;

  CHECK(!sp_received_new(&profile, &sp_mem_default, 200 << 10));
  for (i = 0; i < 100000; i++) {
    snprintf(text, sizeof text, "function %d", i);
    received_text(profile, text);
  }
  CHECK_EQUAL(SPANPROF_ERR_LIMIT, sp_received_status(profile));
  CHECK(strstr(spanprof_last_error(), "204800 bytes") != NULL);
  CHECK_EQUAL(0, received_text(profile, "one more"));
  sp_received_free(profile);
}

static void a_text_that_is_no_utf8_is_refused(void) {
  sp_received *profile;

  CHECK(!sp_received_new(&profile, &sp_mem_default, 1 << 20));
  CHECK_EQUAL(0, sp_received_add_text(profile, "\xff", 1));
  CHECK_EQUAL(SPANPROF_ERR_FORMAT, sp_received_status(profile));
  sp_received_free(profile);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"equal_items_have_one_number", equal_items_have_one_number},
      {"labels_are_sorted_and_the_first_of_a_name_counts",
       labels_are_sorted_and_the_first_of_a_name_counts},
      {"more_than_bytes_max_is_refused", more_than_bytes_max_is_refused},
      {"a_text_that_is_no_utf8_is_refused", a_text_that_is_no_utf8_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
