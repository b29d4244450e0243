#include "command.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/system/status.h"
#include "util/text/nearest.h"
#include "util/text/utf8.h"

static const struct command_word {
  const char *word;
  int (*run)(const sp_command_io *io, int argc, char **argv);
  const char *about;
} command_words[] = {
    {"report", sp_command_report, "print the CPU time of profiles by span"},
    {"labels", sp_command_labels,
     "list labels and the CPU time of their values"},
    {"upload", sp_command_upload, "upload profile files to a server"},
    {"serve", sp_command_serve, "run a server that stores and shows profiles"},
    {"check", sp_command_check,
     "check whether profiling works on this machine"},
    {"exec", sp_command_exec, "print how to run a program with profiling"},
    {"version", sp_command_version, "print the version"},
};

static void command_usage(FILE *out) {
  size_t i;

  fputs("usage: spanprof COMMAND [ARGUMENT...]\n\n", out);
  for (i = 0; i < SP_COUNT_OF(command_words); i++)
    fprintf(out, "  %-8s  %s\n", command_words[i].word, command_words[i].about);
  fputs("\n`spanprof COMMAND -h` describes COMMAND. Exit status: 0 success; 1\n"
        "something could not be read, or a check failed; 2 wrong usage; 3 "
        "`report\n"
        "--fail-above` found growth.\n",
        out);
}

int sp_command_exec(const sp_command_io *io, int argc, char **argv) {
  static const char usage[] =
      "spanprof exec: only the Ruby and Python packages can start a program "
      "with\n"
      "profiling. Install one and run its `spanprof exec`:\n"
      "  Ruby    gem install spanprof\n"
      "  Python  pip install spanprof\n"
      "A C program must be linked with libspanprof and call "
      "spanprof_session_start().\n";
  const bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 ||
                                 strcmp(argv[1], "-h") == 0);

  fputs(usage, help ? io->out : io->err);
  return help ? SP_EXIT_OK : SP_EXIT_USAGE;
}

int sp_command_version(const sp_command_io *io, int argc, char **argv) {
  int status = sp_command_no_arguments(
      io, "usage: spanprof version\n\nPrints the version.\n", argc, argv);

  if (status >= 0)
    return status;
  fprintf(io->out, "spanprof %s (libcurl %s, zlib %s)\n", spanprof_version(),
          curl_version_info(CURLVERSION_NOW)->version, zlibVersion());
  return SP_EXIT_OK;
}

/* Flush the output and return the exit status. A failed write, for example to a
 * full disk, must not look like success. */
static int command_end(const sp_command_io *io, int status) {
  errno = 0;
  if (fflush(io->out) == 0 && !ferror(io->out))
    return status;
  fprintf(io->err, "spanprof: cannot write%s%s\n", errno ? ": " : "",
          errno ? strerror(errno) : "");
  return status == SP_EXIT_OK ? SP_EXIT_FAILED : status;
}

static const char *command_name(const void *words, size_t i) {
  return ((const struct command_word *)words)[i].word;
}

static int command_unknown(const sp_command_io *io, const char *word) {
  const char *near =
      sp_nearest(word, command_words, SP_COUNT_OF(command_words), command_name);
  char shown[81];

  if (*word) {
    shown[sp_utf8_printable(word, strlen(word), shown, sizeof shown - 1)] =
        '\0';
    fprintf(io->err, "spanprof: unknown command \"%s\"%s%s%s\n", shown,
            near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
  }
  command_usage(io->err);
  return SP_EXIT_USAGE;
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
  return command_unknown(io, word);
}

int sp_command_main(int argc, char **argv) {
  const sp_command_io io = {.mem = &sp_mem_default,
                            .environment = environ,
                            .out = stdout,
                            .err = stderr};

  return sp_command_run(&io, argc, argv);
}

int sp_command_output(int argc, char **argv, char **out, char **err) {
  size_t out_bytes, err_bytes;
  sp_command_io io = {.mem = &sp_mem_default, .environment = environ};
  int status = SP_EXIT_FAILED;

  *out = *err = NULL;
  io.out = open_memstream(out, &out_bytes);
  io.err = open_memstream(err, &err_bytes);
  if (io.out && io.err)
    status = sp_command_run(&io, argc, argv);
  if (io.out)
    fclose(io.out);
  if (io.err)
    fclose(io.err);
  return status;
}
