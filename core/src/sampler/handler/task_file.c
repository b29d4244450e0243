#include "task_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int sp_task_file_open(int tid, const char *name) {
  char path[64];

  snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

size_t sp_task_file_read(int tid, const char *name, char *text, size_t size) {
  const int file = sp_task_file_open(tid, name);
  ssize_t bytes;

  if (file < 0)
    return 0;
  bytes = read(file, text, size - 1);
  close(file);
  if (bytes <= 0)
    return 0;
  text[bytes] = '\0';
  return (size_t)bytes;
}
