#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "directory.h"

int sp_file_readable(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  struct stat info;
  int error = 0;

  if (file < 0)
    return errno;
  if (fstat(file, &info) != 0)
    error = errno;
  else if (S_ISDIR(info.st_mode))
    error = EISDIR;
  close(file);
  return error;
}

bool sp_file_is_ours(const struct stat *info, uint64_t bytes_max) {
  char why[SP_DIRECTORY_WHY_BYTES];

  return S_ISREG(info->st_mode) && (uint64_t)info->st_size <= bytes_max &&
         sp_directory_private(info, why);
}
