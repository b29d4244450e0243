/* The program `spanprof`: a word, and what it does. Also what gem and wheel
 * run, from the same code. */
#ifndef SP_COMMAND_H
#define SP_COMMAND_H

#include <stdio.h>

#include "util/memory/mem.h"

/* What a command ends with. */
#define SP_EXIT_OK     0
#define SP_EXIT_FAILED 1 /* something could not be read, or a check failed */
#define SP_EXIT_USAGE  2
#define SP_EXIT_GREW   3 /* report --fail-above: a span name did */

/* Where a command reads and writes. */
typedef struct sp_command_io {
  const sp_mem *mem;
  char *const *environment;
  FILE *out;
  FILE *err;
} sp_command_io;

/* argv[0] is the command's own word. Each returns SP_EXIT_*. */
int sp_command_report(const sp_command_io *io, int argc, char **argv);
int sp_command_labels(const sp_command_io *io, int argc, char **argv);
int sp_command_serve(const sp_command_io *io, int argc, char **argv);
int sp_command_upload(const sp_command_io *io, int argc, char **argv);
int sp_command_check(const sp_command_io *io, int argc, char **argv);
int sp_command_exec(const sp_command_io *io, int argc, char **argv);
int sp_command_version(const sp_command_io *io, int argc, char **argv);

/* "spanprof WORD: PATH: WHY" to io->err; `path` may be NULL, and is shown
 * without what would control a terminal. */
void sp_command_complain(const sp_command_io *io, const char *word,
                         const char *path, const char *why);

/* For a command without options: SP_EXIT_OK or SP_EXIT_USAGE after -h or wrong
 * arguments, which were answered; -1: go on. */
int sp_command_no_arguments(const sp_command_io *io, const char *usage,
                            int argc, char **argv);

/* Run what argv[1] names. */
int sp_command_run(const sp_command_io *io, int argc, char **argv);

/* The same as a program does, with its environment and standard streams: what
 * main() and the packages' `spanprof` call. */
int sp_command_main(int argc, char **argv);

/* The same with what it prints in *out and *err, which the caller frees with
 * free(); NULL where memory ran out, and then SP_EXIT_FAILED. */
int sp_command_output(int argc, char **argv, char **out, char **err);

#endif
