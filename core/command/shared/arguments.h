/* A command's arguments, by getopt_long(): "--name", "--name value",
 * "--name=value", unambiguous beginnings of names, -h, operands, and "--",
 * after which everything is an operand. */
#ifndef SP_ARGUMENTS_H
#define SP_ARGUMENTS_H

#include <getopt.h>
#include <stdio.h>

#include "util/base.h"

#define SP_ARGUMENTS_MAX 40

/* An option: one line of the table that a command has. */
typedef struct sp_argument {
  const char *name;  /* "top" */
  const char *value; /* what it takes, "N"; NULL: nothing */
  const char *help;  /* lines with a line feed between them */
} sp_argument;

typedef struct sp_arguments {
  const sp_argument *table;
  size_t count;
  int argc;
  char **argv;
  bool operands_only;
  struct option options[SP_ARGUMENTS_MAX + 2];
} sp_arguments;

#define SP_ARGUMENT_END     (-1)
#define SP_ARGUMENT_OPERAND (-2) /* *value is it */
#define SP_ARGUMENT_HELP    (-3) /* -h or --help, which every table has */
#define SP_ARGUMENT_WRONG   (-4) /* spanprof_last_error() says what */

/* Begin behind the command's name, argv[0]. getopt_long() has its state in the
 * C library: one thread reads arguments at a time. */
void sp_arguments_init(sp_arguments *arguments, const sp_argument *table,
                       size_t count, int argc, char **argv);

/* The next one: an index of the table, or SP_ARGUMENT_*. */
int sp_arguments_next(sp_arguments *arguments, const char **value);

/* The options, a paragraph each, with -h. */
void sp_arguments_help(const sp_argument *table, size_t count, FILE *out);

#endif
