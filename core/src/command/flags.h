/* A command's arguments: "--name", "--name value", "--name=value", operands,
 * and "--", after which everything is an operand. */
#ifndef SP_FLAGS_H
#define SP_FLAGS_H

#include "../util/base.h"

typedef struct sp_flag {
  const char *name; /* "--top" */
  bool takes_value;
} sp_flag;

typedef struct sp_flags {
  int argc;
  char **argv;
  int at; /* of the next one */
  bool operands_only;
} sp_flags;

#define SP_FLAG_END     (-1)
#define SP_FLAG_OPERAND (-2) /* *value is it */
#define SP_FLAG_WRONG   (-3) /* spanprof_last_error() says what */

/* Begin behind the command's name, argv[0]. */
void sp_flags_init(sp_flags *flags, int argc, char **argv);

/* The next one: an index of `table`, or SP_FLAG_*. */
int sp_flags_next(sp_flags *flags, const sp_flag *table, size_t count,
                  const char **value);

#endif
