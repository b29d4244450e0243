#include "rb_log.h"

#include <pthread.h>
#include <stdlib.h>

#include "log_lines.h"
#include "rb_naming.h"
#include "util/system/stderr_line.h"

void rb_sp_log_write(void *data, spanprof_log_level level,
                     const char *message) {
  (void)data;
  if (sp_log_lines_add(level, message))
    rb_sp_naming_request(NULL);
  else
    sp_stderr_line(message);
}

static VALUE log_line_value(const sp_log_line *line) {
  VALUE text = rb_utf8_str_new_cstr(line->text);

  return rb_assoc_new(INT2FIX(line->level), text);
}

/* call-seq: log_lines -> [[level, text], ...]
 *
 * Remove all lines that wait for their delivery and return them, oldest first.
 */
static VALUE native_log_lines(VALUE self) {
  VALUE lines = rb_ary_new();
  sp_log_line *line = sp_log_lines_remove_all();

  (void)self;
  while (line) {
    sp_log_line *next = line->next;

    rb_ary_push(lines, log_line_value(line));
    free(line);
    line = next;
  }
  return lines;
}

/* Tell Spanprof::Logging to deliver the waiting lines. May raise. */
static VALUE log_deliver(VALUE data) {
  VALUE logging = rb_path2class("Spanprof::Logging");

  (void)data;
  return rb_funcall(logging, rb_intern("deliver_soon"), 0);
}

void rb_sp_log_deliver(void) {
  if (sp_log_lines_waiting())
    rb_sp_guard(log_deliver, Qnil);
}

/* call-seq: log_thread -> nil
 *
 * Declare the calling thread to be the one that delivers log lines. */
static VALUE native_log_thread(VALUE self) {
  (void)self;
  rb_sp_naming_log_thread();
  return Qnil;
}

/* call-seq: stderr_line(text) -> nil
 *
 * Write a line to stderr. Keeps the GVL, because each busy Ruby thread would
 * delay the acquisition of a released GVL by 100 ms. That is too long while a
 * process exits. */
static VALUE native_stderr_line(VALUE self, VALUE text) {
  (void)self;
  sp_stderr_line(StringValueCStr(text));
  return Qnil;
}

void rb_sp_log_init(void) {
  pthread_atfork(NULL, NULL, sp_log_lines_drop);
  rb_define_singleton_method(rb_sp_native, "log_lines", native_log_lines, 0);
  rb_define_singleton_method(rb_sp_native, "log_thread", native_log_thread, 0);
  rb_define_singleton_method(rb_sp_native, "stderr_line", native_stderr_line,
                             1);
}
