#include "stderr_line.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "sigpipe.h"
#include "util/base.h"

/* A write of at most PIPE_BUF bytes to a pipe is atomic: pipe(7). */
#define STDERR_LINE_BYTES 4096

void sp_stderr_line(const char *text) {
  struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};
  const int error = errno;
  char line[STDERR_LINE_BYTES];
  sp_sigpipe broken;
  size_t size;

  size = (size_t)snprintf(line, sizeof line - 1, "spanprof: %s", text);
  size = sp_min_u64(size, sizeof line - 2);
  line[size++] = '\n';
  sp_sigpipe_block(&broken);
  if (poll(&file, 1, 0) == 1 && file.revents == POLLOUT &&
      write(file.fd, line, size) < 0) {
    /* The error is ignored, because it could only be reported to stderr. */
  }
  sp_sigpipe_restore(&broken);
  errno = error;
}
