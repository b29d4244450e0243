#include "arguments.h"

#include <assert.h>
#include <string.h>

#include "util/system/status.h"
#include "util/text/nearest.h"

/* The result of getopt_long() for the first option of the table. It is greater
 * than every character, so it cannot be the result for a short option. */
#define ARGUMENT_FIRST 256

/* "-" makes getopt_long() return operands as 1, in their order. ":" makes it
 * return `:` for a missing value. */
static const char argument_letters[] = "-:h";

void sp_arguments_init(sp_arguments *arguments, const sp_argument *table,
                       size_t count, int argc, char **argv) {
  char *nothing[] = {argc > 0 ? argv[0] : NULL, NULL};
  size_t i;

  assert(count <= SP_ARGUMENTS_MAX);
  memset(arguments, 0, sizeof *arguments);
  arguments->table = table;
  arguments->count = count;
  arguments->argc = argc;
  arguments->argv = argv;
  for (i = 0; i < count; i++)
    arguments->options[i] = (struct option){
        .name = table[i].name,
        .has_arg = table[i].value ? required_argument : no_argument,
        .val = ARGUMENT_FIRST + (int)i};
  arguments->options[count] = (struct option){.name = "help", .val = 'h'};
  /* With optind 0, this call makes glibc and musl discard the state of earlier
   * calls. */
  opterr = 0;
  optind = 0;
  getopt_long(1, nothing, argument_letters, arguments->options, NULL);
  optind = 1;
}

static const char *argument_name(const void *table, size_t i) {
  return ((const sp_argument *)table)[i].name;
}

static int argument_wrong(const sp_arguments *arguments, int answer,
                          const char *text) {
  const size_t bytes = strcspn(text, "=");
  char name[80];
  const char *near;

  if (optopt >= ARGUMENT_FIRST) {
    sp_fail(SPANPROF_ERR_ARGUMENT, "option --%s %s a value",
            arguments->table[optopt - ARGUMENT_FIRST].name,
            answer == ':' ? "needs" : "does not take");
    return SP_ARGUMENT_WRONG;
  }
  snprintf(name, sizeof name, "%.*s", (int)sp_min_u64(bytes, 70), text);
  near = strncmp(name, "--", 2) == 0
             ? sp_nearest(name + 2, arguments->table, arguments->count,
                          argument_name)
             : NULL;
  if (near)
    sp_fail(SPANPROF_ERR_ARGUMENT, "unknown option %s: did you mean --%s?",
            name, near);
  else
    sp_fail(SPANPROF_ERR_ARGUMENT, "unknown option %s", name);
  return SP_ARGUMENT_WRONG;
}

/* Get the next argument if it follows "--" or is "-": musl's getopt() stops at
 * "-". Returns false for all other arguments. */
static bool argument_is_operand(sp_arguments *arguments, const char **value) {
  if (optind >= arguments->argc ||
      (!arguments->operands_only && strcmp(arguments->argv[optind], "-") != 0))
    return false;
  *value = arguments->argv[optind++];
  return true;
}

int sp_arguments_next(sp_arguments *arguments, const char **value) {
  const char *text;
  int answer;

  *value = NULL;
  if (argument_is_operand(arguments, value))
    return SP_ARGUMENT_OPERAND;
  if (arguments->operands_only || optind >= arguments->argc)
    return SP_ARGUMENT_END;
  text = arguments->argv[optind];
  answer = getopt_long(arguments->argc, arguments->argv, argument_letters,
                       arguments->options, NULL);
  if (answer == -1) {
    arguments->operands_only = true;
    return sp_arguments_next(arguments, value);
  }
  if (answer == 'h')
    return SP_ARGUMENT_HELP;
  if (answer == '?' || answer == ':')
    return argument_wrong(arguments, answer, text);
  *value = optarg;
  return answer == 1 ? SP_ARGUMENT_OPERAND : answer - ARGUMENT_FIRST;
}

static void argument_help_one(const char *name, const char *value,
                              const char *help, FILE *out) {
  char head[40];

  snprintf(head, sizeof head, "--%s%s%s", name, value ? " " : "",
           value ? value : "");
  for (;;) {
    const size_t bytes = strcspn(help, "\n");

    fprintf(out, "  %-20s  %.*s\n", head, (int)bytes, help);
    if (!help[bytes])
      return;
    help += bytes + 1;
    head[0] = '\0';
  }
}

void sp_arguments_help(const sp_argument *table, size_t count, FILE *out) {
  size_t i;

  for (i = 0; i < count; i++)
    argument_help_one(table[i].name, table[i].value, table[i].help, out);
  argument_help_one("help", NULL, "or -h: print this help", out);
}
