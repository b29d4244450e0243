/* Reads the kernel's files about a thread, in /proc/self/task. */
#ifndef SP_TASK_FILE_H
#define SP_TASK_FILE_H

#include "util/base.h"

/* Open the file `name` of a thread. Returns a descriptor, or a negative number
 * if the thread has ended. */
int sp_task_file_open(int tid, const char *name);

/* Read the start of a thread's file `name` ("status", see proc(5)) into `text`,
 * which has `size` bytes, and terminate it with NUL. Returns the number of
 * bytes read, or 0 if the thread has ended. */
size_t sp_task_file_read(int tid, const char *name, char *text, size_t size);

#endif
