#include "check.h"
#include "command/command.h"
#include "command/report_options.h"
#include "failing_mem.h"

#include <unistd.h>

#define GO_CPU    SP_CORPUS "go_cpu"
#define GO_MERGED SP_CORPUS "go_merged"
#define GO_HEAP   SP_CORPUS "go_heap"

static const char *const
    *words; /* arguments of the command, without "spanprof" */
static char printed[1 << 16], expected[1 << 16];

/* Run the command `words`. Its output is then in `printed`. */
static int command_run(const sp_mem *mem) {
  FILE *out = fmemopen(printed, sizeof printed, "w");
  FILE *err = fopen("/dev/null", "w");
  sp_command_io io = {
      .mem = mem, .environment = environ, .out = out, .err = err};
  char *argv[16] = {(char *)"spanprof"};
  int argc = 1, status;

  CHECK(out && err);
  for (; words[argc - 1]; argc++)
    argv[argc] = (char *)words[argc - 1];
  status = sp_command_run(&io, argc, argv);
  fclose(out);
  fclose(err);
  return status;
}

/* Check that the command, which runs with too little memory, fails, or prints
 * the same as with enough memory. */
static void command_with(const sp_mem *mem) {
  const int status = command_run(mem);

  CHECK(status == SP_EXIT_FAILED || status == SP_EXIT_OK);
  if (status == SP_EXIT_OK)
    CHECK_TEXT(printed, expected);
}

static void commands_survive_every_failed_allocation(void) {
  static const char *const table[][12] = {
      {"report", GO_CPU, GO_CPU, GO_HEAP, NULL},
      {"report", GO_HEAP, GO_CPU, "--json", NULL},
      {"report", GO_CPU, "--group-by", "region", "--lines", NULL},
      {"report", GO_CPU, "--tree", NULL},
      {"report", GO_CPU, "--folded", NULL},
      {"report", GO_CPU, "--peek", "leaf", NULL},
      {"report", GO_CPU, "--peek", "leaf", "--json", NULL},
      {"report", GO_MERGED, "--diff", GO_CPU, "--fail-above", "10%", NULL},
      {"report", GO_CPU, "--diff", GO_MERGED, "--json", "--normalize", NULL},
      {"labels", GO_CPU, NULL},
      {"labels", GO_CPU, "--json", NULL},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    words = table[i];
    CHECK_EQUAL(command_run(&sp_mem_default), SP_EXIT_OK);
    CHECK(*printed);
    memcpy(expected, printed, sizeof expected);
    failing_mem_sweep(command_with);
  }
}

/* Pass each option with the value 1, followed by --help, which prints the help
 * after all options were read, and does nothing else. If 1 is not a valid
 * value, the message names the option, which shows that the option was read. */
static void every_option_of_reports_is_read(void) {
  char name[80], refused[80];
  size_t i;

  for (i = 0; i < SP_REPORT_OPTIONS; i++) {
    const sp_argument *option = &sp_report_options_table[i];
    char *argv[] = {"spanprof", "report", name, "--help", NULL};
    char *out, *err;
    int status;

    snprintf(name, sizeof name, option->value ? "--%s=1" : "--%s",
             option->name);
    snprintf(refused, sizeof refused,
             "spanprof report: --%s \"1\": ", option->name);
    status = sp_command_output(4, argv, &out, &err);
    CHECK(status == SP_EXIT_OK || option->value);
    CHECK(status == SP_EXIT_OK || strstr(err, refused) == err);
    CHECK(!strstr(err, "not implemented"));
    free(out);
    free(err);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"every failed allocation is survived",
       commands_survive_every_failed_allocation},
      {"every option of reports is read", every_option_of_reports_is_read},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
