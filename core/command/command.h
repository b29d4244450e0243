/* The program `spanprof` and its commands. The gem and the wheel run the same
 * code. */
#ifndef SP_COMMAND_H
#define SP_COMMAND_H

#include "command/shared/command_io.h"

/* Run one command. argv[0] is its name. Each function returns SP_EXIT_*. */
int sp_command_report(const sp_command_io *io, int argc, char **argv);
int sp_command_labels(const sp_command_io *io, int argc, char **argv);
int sp_command_serve(const sp_command_io *io, int argc, char **argv);
int sp_command_upload(const sp_command_io *io, int argc, char **argv);
int sp_command_check(const sp_command_io *io, int argc, char **argv);
int sp_command_exec(const sp_command_io *io, int argc, char **argv);
int sp_command_version(const sp_command_io *io, int argc, char **argv);

/* Run the command that argv[1] names. */
int sp_command_run(const sp_command_io *io, int argc, char **argv);

/* Run a command with the environment and standard streams of the process.
 * main() and the `spanprof` of the packages call this. */
int sp_command_main(int argc, char **argv);

/* Run a command and return its output in *out and *err, which the caller frees
 * with free(). If memory runs out they are NULL, and the result is
 * SP_EXIT_FAILED. */
int sp_command_output(int argc, char **argv, char **out, char **err);

#endif
