#include "task_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

size_t sp_task_file_read(int tid, const char *name, char *text, size_t size) {
  char path[64];
  ssize_t bytes;
  int file;

  snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
  file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  bytes = read(file, text, size - 1);
  close(file);
  if (bytes <= 0)
    return 0;
  text[bytes] = '\0';
  return (size_t)bytes;
}
