/* A queue of log lines from the core to the logger of Ruby or Python. Any
 * thread may add a line; one thread of Ruby or Python removes all lines. The
 * queue has no lock, so that a fork can never copy a locked or half changed
 * queue into the child. */
#ifndef SP_LOG_LINES_H
#define SP_LOG_LINES_H

#include <spanprof/spanprof.h>
#include <stdbool.h>

typedef struct sp_log_line {
  struct sp_log_line *next;
  spanprof_log_level level;
  char text[];
} sp_log_line;

/* Add a line with a copy of `text`. Returns false if the queue already has 4096
 * lines or there is no memory. */
bool sp_log_lines_add(spanprof_log_level level, const char *text);

/* Remove all lines and return them, oldest first, or NULL if there are none.
 * The caller frees each line with free(). */
sp_log_line *sp_log_lines_remove_all(void);

bool sp_log_lines_waiting(void);

/* Discard the lines of the parent process; called in a forked child. */
void sp_log_lines_drop(void);

#endif
