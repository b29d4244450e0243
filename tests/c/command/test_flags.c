#include "check.h"
#include "command/flags.h"

static const sp_flag known[] = {{"--top", true}, {"--json", false}};

static const char *value;

static int next(sp_flags *flags) {
  return sp_flags_next(flags, known, SP_COUNT_OF(known), &value);
}

static void flags_take_values_both_ways(void) {
  char *argv[] = {"report", "--top", "3", "--top=4", "--top=", "--json", "x"};
  sp_flags flags;

  sp_flags_init(&flags, SP_COUNT_OF(argv), argv);
  CHECK_EQUAL(next(&flags), 0);
  CHECK_TEXT(value, "3");
  CHECK_EQUAL(next(&flags), 0);
  CHECK_TEXT(value, "4");
  CHECK_EQUAL(next(&flags), 0);
  CHECK_TEXT(value, "");
  CHECK_EQUAL(next(&flags), 1);
  CHECK(!value);
  CHECK_EQUAL(next(&flags), SP_FLAG_OPERAND);
  CHECK_TEXT(value, "x");
  CHECK_EQUAL(next(&flags), SP_FLAG_END);
  CHECK_EQUAL(next(&flags), SP_FLAG_END);
}

static void flags_end_at_two_dashes(void) {
  char *argv[] = {"report", "-", "--", "--json", "--"};
  sp_flags flags;

  sp_flags_init(&flags, SP_COUNT_OF(argv), argv);
  CHECK_EQUAL(next(&flags), SP_FLAG_OPERAND);
  CHECK_TEXT(value, "-");
  CHECK_EQUAL(next(&flags), SP_FLAG_OPERAND);
  CHECK_TEXT(value, "--json");
  CHECK_EQUAL(next(&flags), SP_FLAG_OPERAND);
  CHECK_TEXT(value, "--");
  CHECK_EQUAL(next(&flags), SP_FLAG_END);
}

static void flags_wrong_ones_are_named(void) {
  static const struct {
    char *argument;
    const char *sentence;
  } table[] = {
      {"--tops", "unknown option --tops"},
      {"--to=1", "unknown option --to"},
      {"-t", "unknown option -t"},
      {"--top", "option --top takes a value"},
      {"--json=1", "option --json takes no value"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    char *argv[] = {"report", table[i].argument};
    sp_flags flags;

    sp_flags_init(&flags, 2, argv);
    CHECK_EQUAL(next(&flags), SP_FLAG_WRONG);
    CHECK_TEXT(spanprof_last_error(), table[i].sentence);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"values are taken both ways", flags_take_values_both_ways},
      {"flags end at two dashes", flags_end_at_two_dashes},
      {"wrong ones are named", flags_wrong_ones_are_named},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
