#include "rb_log.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log_lines.h"
#include "rb_naming.h"

void rb_sp_log_write(void *data, spanprof_log_level level,
                     const char *message) {
  (void)data;
  if (sp_log_lines_add(level, message))
    rb_sp_naming_want(NULL);
  else
    fprintf(stderr, "spanprof: %s\n", message);
}

static VALUE log_line_value(const sp_log_line *line) {
  VALUE text = rb_utf8_str_new_cstr(line->text);

  return rb_assoc_new(INT2FIX(line->level), text);
}

/* call-seq: log_take -> [[level, text], ...]
 *
 * The lines that wait, oldest first. */
static VALUE native_log_take(VALUE self) {
  VALUE lines = rb_ary_new();
  sp_log_line *line = sp_log_lines_take();

  (void)self;
  while (line) {
    sp_log_line *next = line->next;

    rb_ary_push(lines, log_line_value(line));
    free(line);
    line = next;
  }
  return lines;
}

/* May raise. */
static VALUE log_deliver(VALUE data) {
  VALUE logging = rb_path2class("Spanprof::Logging");

  (void)data;
  return rb_funcall(logging, rb_intern("deliver_soon"), 0);
}

void rb_sp_log_deliver(void) {
  if (sp_log_lines_wait())
    rb_sp_guard(log_deliver, Qnil);
}

/* call-seq: log_thread -> nil
 *
 * The calling thread is the one that delivers lines. */
static VALUE native_log_thread(VALUE self) {
  (void)self;
  rb_sp_naming_help();
  return Qnil;
}

/* call-seq: stderr_write(text) -> true or false
 *
 * Writes a line where that takes no time, and keeps the GVL: beside busy
 * threads it takes 100 ms for each of them to get it back, which a process that
 * ends does not have. */
static VALUE native_stderr_write(VALUE self, VALUE text) {
  struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};
  size_t bytes;

  (void)self;
  StringValue(text);
  bytes = (size_t)RSTRING_LEN(text);
  /* So many bytes a pipe that has room takes whole: pipe(7). */
  if (bytes > PIPE_BUF || poll(&file, 1, 0) != 1 || file.revents != POLLOUT)
    return Qfalse;
  return write(file.fd, RSTRING_PTR(text), bytes) == (ssize_t)bytes ? Qtrue
                                                                    : Qfalse;
}

void rb_sp_log_init(void) {
  pthread_atfork(NULL, NULL, sp_log_lines_drop);
  rb_define_singleton_method(rb_sp_native, "log_take", native_log_take, 0);
  rb_define_singleton_method(rb_sp_native, "log_thread", native_log_thread, 0);
  rb_define_singleton_method(rb_sp_native, "stderr_write", native_stderr_write,
                             1);
}
