#include "check.h"
#include "command/shared/arguments.h"

static const sp_argument known[] = {{"top", "N", "rows"},
                                    {"json", NULL, "one object"},
                                    {"span", "ID", "of a span\nonly"},
                                    {"span-name", "NAME", "of a name"}};

static const char *value;

static int next(sp_arguments *arguments) {
  return sp_arguments_next(arguments, &value);
}

static void values_are_accepted_in_both_forms(void) {
  char *argv[] = {
      "report", "--top", "3",      "--top=4", "--top=", "--json", "--top",
      "-1h",    "x",     "--to=5", "--span",  "--json", "-help"};
  static const struct {
    int found;
    const char *value;
  } expected[] = {{0, "3"},  {0, "4"},      {0, ""},
                  {1, NULL}, {0, "-1h"},    {SP_ARGUMENT_OPERAND, "x"},
                  {0, "5"},  {2, "--json"}, {SP_ARGUMENT_HELP, NULL}};
  sp_arguments arguments;
  size_t i;

  sp_arguments_init(&arguments, known, SP_COUNT_OF(known), SP_COUNT_OF(argv),
                    argv);
  for (i = 0; i < SP_COUNT_OF(expected); i++) {
    CHECK_EQUAL(next(&arguments), expected[i].found);
    if (expected[i].value)
      CHECK_TEXT(value, expected[i].value);
    else
      CHECK(!value);
  }
}

static void arguments_after_two_dashes_are_operands(void) {
  char *argv[] = {"report", "-", "a", "--", "--json", "--", "-"};
  static const char *const expected[] = {"-", "a", "--json", "--", "-"};
  sp_arguments arguments;
  size_t i;

  sp_arguments_init(&arguments, known, SP_COUNT_OF(known), SP_COUNT_OF(argv),
                    argv);
  for (i = 0; i < SP_COUNT_OF(expected); i++) {
    CHECK_EQUAL(next(&arguments), SP_ARGUMENT_OPERAND);
    CHECK_TEXT(value, expected[i]);
  }
  CHECK_EQUAL(next(&arguments), SP_ARGUMENT_END);
  CHECK_EQUAL(next(&arguments), SP_ARGUMENT_END);
}

static void unknown_options_are_named_with_the_nearest_option(void) {
  static const struct {
    char *argument;
    const char *sentence;
  } table[] = {
      {"--tops", "unknown option --tops: did you mean --top?"},
      {"--tpo=1", "unknown option --tpo: did you mean --top?"},
      {"--span-nmae", "unknown option --span-nmae: did you mean --span-name?"},
      {"--sp", "unknown option --sp: did you mean --span?"},
      {"--sp-na", "unknown option --sp-na: did you mean --span-name?"},
      {"--zebra", "unknown option --zebra"},
      {"-t", "unknown option -t"},
      {"--top", "option --top needs a value"},
      {"--json=1", "option --json does not take a value"},
  };
  sp_arguments arguments;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    char *argv[] = {"report", table[i].argument, NULL};

    sp_arguments_init(&arguments, known, SP_COUNT_OF(known), 2, argv);
    CHECK_EQUAL(next(&arguments), SP_ARGUMENT_WRONG);
    CHECK_TEXT(spanprof_last_error(), table[i].sentence);
  }
}

static void help_has_every_option(void) {
  static const char expected[] =
      "  --top N               rows\n"
      "  --json                one object\n"
      "  --span ID             of a span\n"
      "                        only\n"
      "  --span-name NAME      of a name\n"
      "  --help                or -h: print this help\n";
  char text[500] = "";
  FILE *out = fmemopen(text, sizeof text, "w");

  CHECK(out);
  sp_arguments_help(known, SP_COUNT_OF(known), out);
  fclose(out);
  CHECK_TEXT(text, expected);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"values are accepted in both forms", values_are_accepted_in_both_forms},
      {"arguments after two dashes are operands",
       arguments_after_two_dashes_are_operands},
      {"unknown options are named with the nearest option",
       unknown_options_are_named_with_the_nearest_option},
      {"help has every option", help_has_every_option},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
