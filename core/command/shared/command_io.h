/* The streams, exit statuses and error messages that all commands share. */
#ifndef SP_COMMAND_IO_H
#define SP_COMMAND_IO_H

#include <stdio.h>

#include "util/memory/mem.h"

/* Exit statuses. */
#define SP_EXIT_OK     0
#define SP_EXIT_FAILED 1 /* something could not be read, or a check failed */
#define SP_EXIT_USAGE  2
#define SP_EXIT_GREW   3 /* `report --fail-above` found growth */

/* The streams and the environment of a command. */
typedef struct sp_command_io {
  const sp_mem *mem;
  char *const *environment;
  FILE *out;
  FILE *err;
} sp_command_io;

/* Write "spanprof WORD: PATH: WHY" to io->err, without the control characters
 * of `path`, which may be NULL. */
void sp_command_error(const sp_command_io *io, const char *word,
                      const char *path, const char *why);

/* Read the arguments of a command that takes none. Returns -1 if there are
 * none. Otherwise prints the usage, after a message if an option is unknown,
 * and returns the exit status. */
int sp_command_no_arguments(const sp_command_io *io, const char *usage,
                            int argc, char **argv);

#endif
