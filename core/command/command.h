/* The program `spanprof` and its commands. The gem and the wheel run the same
 * code. */
#ifndef SP_COMMAND_H
#define SP_COMMAND_H

#include "command/shared/command_io.h"

/* argv[0] is the command's own word. Each returns SP_EXIT_*. */
int sp_command_report(const sp_command_io *io, int argc, char **argv);
int sp_command_labels(const sp_command_io *io, int argc, char **argv);
int sp_command_serve(const sp_command_io *io, int argc, char **argv);
int sp_command_upload(const sp_command_io *io, int argc, char **argv);
int sp_command_check(const sp_command_io *io, int argc, char **argv);
int sp_command_exec(const sp_command_io *io, int argc, char **argv);
int sp_command_version(const sp_command_io *io, int argc, char **argv);

/* Run what argv[1] names. */
int sp_command_run(const sp_command_io *io, int argc, char **argv);

/* The same as a program does, with its environment and standard streams: what
 * main() and the packages' `spanprof` call. */
int sp_command_main(int argc, char **argv);

/* The same with what it prints in *out and *err, which the caller frees with
 * free(); NULL where memory ran out, and then SP_EXIT_FAILED. */
int sp_command_output(int argc, char **argv, char **out, char **err);

#endif
