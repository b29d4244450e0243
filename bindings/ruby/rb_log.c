/* A stack of lines that any thread pushes onto and one takes whole, without a
 * lock: a child of a fork finds it intact whatever the other threads of its
 * parent were doing. */
#include "rb_log.h"

#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

#include "rb_naming.h"

/* Lines that may wait; where nobody takes them the rest goes to stderr. */
#define LOG_WAITING_MAX 4096

typedef struct log_line {
  struct log_line *next;
  spanprof_log_level level;
  char text[];
} log_line;

/* Process-wide, because the core has one log. */
static struct {
  _Atomic(log_line *) newest;
  _Atomic unsigned waiting;
} log_state;

void rb_sp_log_write(void *data, spanprof_log_level level,
                     const char *message) {
  size_t bytes = strlen(message) + 1;
  log_line *line = malloc(sizeof *line + bytes);

  (void)data;
  if (!line || atomic_fetch_add(&log_state.waiting, 1) >= LOG_WAITING_MAX) {
    if (line)
      atomic_fetch_sub(&log_state.waiting, 1);
    free(line);
    fprintf(stderr, "spanprof: %s\n", message);
    return;
  }
  line->level = level;
  memcpy(line->text, message, bytes);
  line->next = atomic_load(&log_state.newest);
  while (!atomic_compare_exchange_weak(&log_state.newest, &line->next, line))
    continue;
  rb_sp_naming_want(NULL);
}

/* Take every line, oldest first. */
static log_line *log_take_all(void) {
  log_line *line = atomic_exchange(&log_state.newest, NULL);
  log_line *oldest = NULL;

  while (line) {
    log_line *next = line->next;

    line->next = oldest;
    oldest = line;
    line = next;
    atomic_fetch_sub(&log_state.waiting, 1);
  }
  return oldest;
}

static VALUE log_line_value(log_line *line) {
  VALUE text = rb_utf8_str_new_cstr(line->text);

  return rb_assoc_new(INT2FIX(line->level), text);
}

/* call-seq: log_take -> [[level, text], ...]
 *
 * The lines that wait, oldest first. */
static VALUE native_log_take(VALUE self) {
  VALUE lines = rb_ary_new();
  log_line *line = log_take_all();

  (void)self;
  while (line) {
    log_line *next = line->next;

    rb_ary_push(lines, log_line_value(line));
    free(line);
    line = next;
  }
  return lines;
}

/* May raise. */
static VALUE log_hand_on(VALUE data) {
  VALUE logging = rb_path2class("Spanprof::Logging");

  (void)data;
  return rb_funcall(logging, rb_intern("hand_on_soon"), 0);
}

void rb_sp_log_hand_on(void) {
  int state = 0;

  if (!atomic_load(&log_state.newest))
    return;
  rb_protect(log_hand_on, Qnil, &state);
  if (state)
    rb_set_errinfo(Qnil);
}

/* call-seq: log_thread -> nil
 *
 * The calling thread is the one that hands lines on. */
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

/* The parent hands its lines on itself. */
static void log_after_fork(void) {
  log_line *line = log_take_all();

  while (line) {
    log_line *next = line->next;

    free(line);
    line = next;
  }
  atomic_store(&log_state.waiting, 0);
}

void rb_sp_log_init(void) {
  pthread_atfork(NULL, NULL, log_after_fork);
  rb_define_singleton_method(rb_sp_native, "log_take", native_log_take, 0);
  rb_define_singleton_method(rb_sp_native, "log_thread", native_log_thread, 0);
  rb_define_singleton_method(rb_sp_native, "stderr_write", native_stderr_write,
                             1);
}
