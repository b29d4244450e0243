/* What the kernel tells of a thread of the process, in /proc/self/task. */
#ifndef SP_TASK_FILE_H
#define SP_TASK_FILE_H

#include "util/base.h"

/* Open a thread's file `name`; below 0: the thread is gone. */
int sp_task_file_open(int tid, const char *name);

/* Read the start of a thread's file `name` ("status", see proc(5)) into `text`
 * of `size` bytes, NUL-terminated. Returns how many bytes it has; 0: the thread
 * is gone. */
size_t sp_task_file_read(int tid, const char *name, char *text, size_t size);

#endif
