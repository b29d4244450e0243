/* A command's arguments, parsed by getopt_long(): "--name", "--name value",
 * "--name=value", unambiguous prefixes of names, -h, operands, and "--", after
 * which everything is an operand. */
#ifndef SP_ARGUMENTS_H
#define SP_ARGUMENTS_H

#include <getopt.h>
#include <stdio.h>

#include "util/base.h"

#define SP_ARGUMENTS_MAX 40

/* An option: one row of the table of a command. */
typedef struct sp_argument {
  const char *name;  /* "top" */
  const char *value; /* placeholder for the value in the help, such as "N";
                      * NULL: the option takes no value */
  const char *help;  /* text of the help, whose lines are separated by \n */
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
#define SP_ARGUMENT_OPERAND (-2) /* an operand; *value is its text */
#define SP_ARGUMENT_HELP    (-3) /* -h or --help, which every command has */
#define SP_ARGUMENT_WRONG   (-4) /* wrong usage: see spanprof_last_error() */

/* Start to read the arguments after the command's name, argv[0]. Only one
 * thread may read arguments at a time, because getopt_long() has global state.
 */
void sp_arguments_init(sp_arguments *arguments, const sp_argument *table,
                       size_t count, int argc, char **argv);

/* Returns the next option's index in the table, or SP_ARGUMENT_*. */
int sp_arguments_next(sp_arguments *arguments, const char **value);

/* Print the options of the table with their help, and --help. */
void sp_arguments_help(const sp_argument *table, size_t count, FILE *out);

#endif
