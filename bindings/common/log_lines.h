/* A queue of lines of the core's log for the language's logger. Any thread of
 * the core adds a line; one thread of the language removes all lines. The queue
 * has no lock, so that it is intact in a forked child, whatever the parent's
 * threads were doing. */
#ifndef SP_LOG_LINES_H
#define SP_LOG_LINES_H

#include <spanprof/spanprof.h>
#include <stdbool.h>

typedef struct sp_log_line {
  struct sp_log_line *next;
  spanprof_log_level level;
  char text[];
} sp_log_line;

/* Add a copy of `text`. Returns false if 4096 lines wait already or memory runs
 * out. */
bool sp_log_lines_add(spanprof_log_level level, const char *text);

/* Remove all lines and return them, oldest first, or NULL if there are none.
 * The caller frees each with free(). */
sp_log_line *sp_log_lines_remove_all(void);

bool sp_log_lines_waiting(void);

/* Discard the lines of the parent process; called in a forked child. */
void sp_log_lines_drop(void);

#endif
