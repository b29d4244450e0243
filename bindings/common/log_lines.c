#include "log_lines.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LINES_MAX 4096

/* One queue per process, because the core has one log. */
static struct {
  _Atomic(sp_log_line *) newest;
  _Atomic unsigned count;
} log_lines;

bool sp_log_lines_add(spanprof_log_level level, const char *text) {
  const size_t bytes = strlen(text) + 1;
  sp_log_line *line = NULL;

  if (atomic_fetch_add(&log_lines.count, 1) < LOG_LINES_MAX)
    line = malloc(sizeof *line + bytes);
  if (!line) {
    atomic_fetch_sub(&log_lines.count, 1);
    return false;
  }
  line->level = level;
  memcpy(line->text, text, bytes);
  line->next = atomic_load(&log_lines.newest);
  while (!atomic_compare_exchange_weak(&log_lines.newest, &line->next, line))
    continue;
  return true;
}

sp_log_line *sp_log_lines_remove_all(void) {
  sp_log_line *line = atomic_exchange(&log_lines.newest, NULL);
  sp_log_line *oldest = NULL;

  while (line) {
    sp_log_line *next = line->next;

    line->next = oldest;
    oldest = line;
    line = next;
    atomic_fetch_sub(&log_lines.count, 1);
  }
  return oldest;
}

bool sp_log_lines_waiting(void) {
  return atomic_load(&log_lines.newest) != NULL;
}

void sp_log_lines_drop(void) {
  sp_log_line *line = sp_log_lines_remove_all();

  while (line) {
    sp_log_line *next = line->next;

    free(line);
    line = next;
  }
  atomic_store(&log_lines.count, 0);
}
