/* Lines of the core's log on their way to the language's logger: any thread of
 * the core adds one, a thread of the language takes them all. No lock, so that
 * the child of a fork finds it whole whatever the parent's threads were doing.
 */
#ifndef SP_LOG_LINES_H
#define SP_LOG_LINES_H

#include <spanprof/spanprof.h>
#include <stdbool.h>

typedef struct sp_log_line {
  struct sp_log_line *next;
  spanprof_log_level level;
  char text[];
} sp_log_line;

/* Keep a copy. False: 4096 wait already, or there is no memory. */
bool sp_log_lines_add(spanprof_log_level level, const char *text);

/* All that wait, oldest first; free() each. NULL: none. */
sp_log_line *sp_log_lines_take(void);

bool sp_log_lines_wait(void);

/* In the child of a fork: they are the parent's. */
void sp_log_lines_drop(void);

#endif
