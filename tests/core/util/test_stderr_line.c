#include "util/system/stderr_line.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static int console;

static void stderr_becomes(int fd) {
  CHECK(dup2(fd, STDERR_FILENO) == STDERR_FILENO);
  close(fd);
}

static void stderr_returns(void) {
  CHECK(dup2(console, STDERR_FILENO) == STDERR_FILENO);
}

/* Replace stderr by a pipe. Returns its read end. */
static int stderr_pipe(void) {
  int ends[2];

  CHECK(pipe(ends) == 0);
  stderr_becomes(ends[1]);
  return ends[0];
}

static void a_line_has_prefix_and_newline(void) {
  char text[64] = "";
  int reader = stderr_pipe();

  sp_stderr_line("one");
  stderr_returns();
  CHECK(read(reader, text, sizeof text - 1) > 0);
  CHECK_TEXT(text, "spanprof: one\n");
  close(reader);
}

static void a_long_line_is_truncated(void) {
  static char text[9000], line[9000];
  int reader = stderr_pipe();

  memset(text, 'x', sizeof text - 1);
  sp_stderr_line(text);
  stderr_returns();
  CHECK_EQUAL(read(reader, line, sizeof line), 4095);
  CHECK(line[4094] == '\n');
  close(reader);
}

static void without_a_reader_nothing_happens(void) {
  close(stderr_pipe());
  errno = ENOTTY;
  sp_stderr_line("one");
  CHECK_EQUAL(errno, ENOTTY);
  stderr_returns();
}

static void a_full_pipe_does_not_block(void) {
  int reader = stderr_pipe();

  CHECK(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK) == 0);
  while (write(STDERR_FILENO, "x", 1) == 1)
    continue;
  CHECK(fcntl(STDERR_FILENO, F_SETFL, 0) == 0);
  sp_stderr_line("one");
  stderr_returns();
  close(reader);
}

static void a_full_disk_and_a_closed_descriptor_are_ignored(void) {
  stderr_becomes(open("/dev/full", O_WRONLY));
  errno = ENOTTY;
  sp_stderr_line("one");
  close(STDERR_FILENO);
  sp_stderr_line("one");
  CHECK_EQUAL(errno, ENOTTY);
  stderr_returns();
}

static void a_pending_signal_stays_pending(void) {
  sigset_t broken, pending;

  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  CHECK(sigprocmask(SIG_BLOCK, &broken, NULL) == 0);
  raise(SIGPIPE);
  close(stderr_pipe());
  sp_stderr_line("one");
  stderr_returns();
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1);
  signal(SIGPIPE, SIG_IGN);
  CHECK(sigprocmask(SIG_UNBLOCK, &broken, NULL) == 0);
  signal(SIGPIPE, SIG_DFL);
}

static const check_test tests[] = {
    {"a_line_has_prefix_and_newline", a_line_has_prefix_and_newline},
    {"a_long_line_is_truncated", a_long_line_is_truncated},
    {"without_a_reader_nothing_happens", without_a_reader_nothing_happens},
    {"a_full_pipe_does_not_block", a_full_pipe_does_not_block},
    {"a_full_disk_and_a_closed_descriptor_are_ignored",
     a_full_disk_and_a_closed_descriptor_are_ignored},
    {"a_pending_signal_stays_pending", a_pending_signal_stays_pending},
};

int main(int argc, char **argv) {
  console = dup(STDERR_FILENO);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
