/* Reading lists of numbers in untrusted protobuf. */
#include "message.h"
#include "server/receive/wire/refusal.h"

/* Count the numbers of a list, then read them into an array of exactly this
 * size, so that AddressSanitizer detects writes beyond the array. */
static bool read_list(sp_view message, uint64_t **numbers, size_t *count,
                      sp_wire_fault *fault) {
  sp_wire wire = sp_wire_of(message);
  sp_wire_field field;
  size_t capacity = 0;
  bool sound = true;

  while (sound && sp_wire_next(&wire, &field))
    sound = sp_wire_count(&wire, &field, "Numbers", &capacity);
  *count = 0;
  *numbers = malloc(capacity * sizeof **numbers);
  wire = sp_wire_of(message);
  while (sound && sp_wire_next(&wire, &field))
    sound = sp_wire_numbers(&wire, &field, *numbers, count);
  CHECK(*count <= capacity);
  *fault = wire.fault;
  return sound && !wire.fault;
}

static void packed_and_unpacked_lists_are_read(void) {
  message m = message_new();
  sp_wire_fault fault;
  uint64_t *numbers;
  size_t count;

  message_number(&m, 1, 300);
  message_bytes(&m, 1, "\x01\xac\x02\x7f", 4);
  message_fixed(&m, 1, 1);
  CHECK(read_list(message_view(&m), &numbers, &count, &fault));
  CHECK_EQUAL(count, 5);
  CHECK_EQUAL(numbers[0], 300);
  CHECK_EQUAL(numbers[2], 300);
  CHECK_EQUAL(numbers[3], 127);
  free(numbers);
  message_free(&m);
}

static void an_unfinished_number_is_not_written(void) {
  static const struct {
    const char *bytes;
    size_t size, whole;
    sp_wire_fault fault;
  } cases[] = {
      {"\xff", 1, 0, SP_WIRE_CUT},
      {"\x01\xff\xff", 3, 1, SP_WIRE_CUT},
      {"\x01\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, 2, SP_WIRE_CUT},
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 0,
       SP_WIRE_BAD_NUMBER},
  };
  sp_wire_fault fault;
  uint64_t *numbers;
  size_t count, i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    message m = message_new();

    message_bytes(&m, 1, cases[i].bytes, cases[i].size);
    CHECK(!read_list(message_view(&m), &numbers, &count, &fault));
    CHECK_EQUAL(fault, cases[i].fault);
    CHECK_EQUAL(count, cases[i].whole);
    free(numbers);
    message_free(&m);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"packed_and_unpacked_lists_are_read",
       packed_and_unpacked_lists_are_read},
      {"an_unfinished_number_is_not_written",
       an_unfinished_number_is_not_written},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
