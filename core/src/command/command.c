#include "command.h"

#include "../util/base.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const struct command_word {
  const char *word;
  int (*run)(const sp_command_io *io, int argc, char **argv);
  const char *about;
} command_words[] = {
    {"report", sp_command_report, "print what profiles say, by span"},
    {"upload", sp_command_upload, "send profiles that were written to files"},
    {"check", sp_command_check, "try what profiling needs, here and now"},
    {"exec", sp_command_exec, "say how to run a program profiled"},
    {"version", sp_command_version, "print the version"},
};

static void command_usage(FILE *out) {
  size_t i;

  fputs("usage: spanprof COMMAND [ARGUMENT...]\n\n", out);
  for (i = 0; i < SP_COUNT_OF(command_words); i++)
    fprintf(out, "  %-8s  %s\n", command_words[i].word, command_words[i].about);
  fputs(
      "\n`spanprof COMMAND --help` says more. Exit status: 0 good; 1 something "
      "could not\nbe read, or a check failed; 2 wrong usage.\n",
      out);
}

int sp_command_exec(const sp_command_io *io, int argc, char **argv) {
  (void)argc;
  (void)argv;
  fputs("spanprof exec: starting a program profiled is part of the language "
        "packages:\n"
        "  Ruby    gem install spanprof, then its spanprof exec\n"
        "  Python  pip install spanprof, then its spanprof exec\n"
        "A C program is linked with libspanprof and calls "
        "spanprof_session_start().\n",
        io->err);
  return SP_EXIT_USAGE;
}

int sp_command_version(const sp_command_io *io, int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    fputs("usage: spanprof version\n", io->err);
    return SP_EXIT_USAGE;
  }
  fprintf(io->out, "spanprof %s (libcurl %s, zlib %s)\n", spanprof_version(),
          curl_version_info(CURLVERSION_NOW)->version, zlibVersion());
  return SP_EXIT_OK;
}

/* A full disk must not look like success. */
static int command_end(const sp_command_io *io, int status) {
  errno = 0;
  if (fflush(io->out) == 0 && !ferror(io->out))
    return status;
  fprintf(io->err, "spanprof: cannot write: %s\n", strerror(errno));
  return status == SP_EXIT_OK ? SP_EXIT_FAILED : status;
}

int sp_command_run(const sp_command_io *io, int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  size_t i;

  for (i = 0; i < SP_COUNT_OF(command_words); i++) {
    if (strcmp(command_words[i].word, word) == 0)
      return command_end(io, command_words[i].run(io, argc - 1, argv + 1));
  }
  if (strcmp(word, "--version") == 0)
    return command_end(io, sp_command_version(io, 1, argv));
  if (strcmp(word, "--help") == 0 || strcmp(word, "help") == 0 ||
      strcmp(word, "-h") == 0) {
    command_usage(io->out);
    return command_end(io, SP_EXIT_OK);
  }
  if (*word)
    fprintf(io->err, "spanprof: no command \"%.80s\"\n", word);
  command_usage(io->err);
  return SP_EXIT_USAGE;
}

int sp_command_main(int argc, char **argv) {
  const sp_command_io io = {.mem = &sp_mem_default,
                            .environment = environ,
                            .out = stdout,
                            .err = stderr};

  return sp_command_run(&io, argc, argv);
}
