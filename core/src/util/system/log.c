#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "own_thread.h"
#include "stderr_line.h"
#include "util/text/utf8.h"

#define LOG_LINE_BYTES 1024

static void stderr_write(void *data, spanprof_log_level level,
                         const char *message) {
  (void)data;
  (void)level;
  sp_stderr_line(message);
}

/* Pass a line to the callback. The caller holds `log->lock`. Once exit handlers
 * run, the callback is not called, because it may belong to a language that has
 * already been finalised. */
static void line_write(const sp_log *log, spanprof_log_level level,
                       const char *line) {
  if (!sp_exit_begun() || log->write == stderr_write)
    log->write(log->write_data, level, line);
  else if (level >= SPANPROF_LOG_WARN)
    sp_stderr_line(line);
}

/* Format a line and make it safe to show: it may contain a server's messages,
 * file names and labels. */
static void line_format(char line[LOG_LINE_BYTES], const char *format,
                        va_list arguments) {
  vsnprintf(line, LOG_LINE_BYTES, format, arguments);
  line[sp_utf8_printable(line, strlen(line), line, LOG_LINE_BYTES - 1)] = '\0';
}

void sp_log_init(sp_log *log, spanprof_log_fn write, void *data,
                 spanprof_log_level level, const sp_clock *clock) {
  memset(log, 0, sizeof *log);
  log->write = write ? write : stderr_write;
  log->write_data = data;
  log->level = level;
  log->clock = clock;
  pthread_mutex_init(&log->lock, NULL);
}

void sp_log_after_fork(sp_log *log) {
  pthread_mutex_init(&log->lock, NULL);
}

void sp_log_line(sp_log *log, spanprof_log_level level, const char *format,
                 ...) {
  char line[LOG_LINE_BYTES];
  va_list arguments;

  if (level < log->level)
    return;
  va_start(arguments, format);
  line_format(line, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&log->lock);
  line_write(log, level, line);
  pthread_mutex_unlock(&log->lock);
}

void sp_log_warn(sp_log *log, sp_log_kind kind, const char *format, ...) {
  char line[LOG_LINE_BYTES];
  uint64_t now_ns = sp_clock_monotonic_ns(log->clock);
  va_list arguments;
  size_t used;

  if (SPANPROF_LOG_WARN < log->level)
    return;
  va_start(arguments, format);
  line_format(line, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&log->lock);
  if (log->logged_ns[kind] &&
      now_ns - log->logged_ns[kind] < 60 * SP_NS_PER_S) {
    log->suppressed[kind]++;
  } else {
    used = strlen(line);
    if (log->suppressed[kind])
      snprintf(line + used, sizeof line - used,
               " (and %llu more of this kind since the last warning)",
               (unsigned long long)log->suppressed[kind]);
    log->logged_ns[kind] = now_ns ? now_ns : 1;
    log->suppressed[kind] = 0;
    line_write(log, SPANPROF_LOG_WARN, line);
  }
  pthread_mutex_unlock(&log->lock);
}
