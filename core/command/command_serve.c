#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "util/base.h"

/* The server is a separate executable, so that the gem and the wheel need not
 * contain its libraries. This program searches its own directory for it, then
 * PATH. */
#define SERVE_PROGRAM "spanprof-server"

static bool serve_path_of_sibling(char *path, size_t capacity) {
  const ssize_t size =
      readlink("/proc/self/exe", path, capacity - sizeof SERVE_PROGRAM - 1);
  char *slash;

  if (size <= 0 || (size_t)size >= capacity - sizeof SERVE_PROGRAM - 1)
    return false;
  path[size] = '\0';
  slash = strrchr(path, '/');
  if (!slash)
    return false;
  strcpy(slash + 1, SERVE_PROGRAM);
  return true;
}

int sp_command_serve(const sp_command_io *io, int argc, char **argv) {
  char path[PATH_MAX];

  (void)argc;
  if (serve_path_of_sibling(path, sizeof path))
    execv(path, argv);
  execvp(SERVE_PROGRAM, argv);
  fprintf(io->err,
          "spanprof serve: cannot run " SERVE_PROGRAM
          ": %s; build it from spanprof's source, with libmicrohttpd, "
          "SQLite, PCRE2, jansson and libyaml installed\n",
          strerror(errno));
  return SP_EXIT_FAILED;
}
