#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../util/status.h"

spanprof_status sp_directory_prepare(char **out, const sp_mem *mem,
                                     const char *option, const char *path) {
  char absolute[PATH_MAX];
  struct stat info;

  *out = NULL;
  if (mkdir(path, 0700) != 0 && errno != EEXIST)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s %s cannot be created",
                         option, path);
  if (!realpath(path, absolute) || stat(absolute, &info) != 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s %s cannot be used", option,
                         path);
  if (!S_ISDIR(info.st_mode))
    return sp_fail_errno(SPANPROF_ERR_IO, ENOTDIR, "%s %s cannot be used",
                         option, path);
  if (access(absolute, R_OK | W_OK | X_OK) != 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s %s cannot be written to",
                         option, path);
  *out = sp_mem_text(mem, absolute, strlen(absolute));
  return *out ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

bool sp_directory_path(char *out, size_t capacity, const char *directory,
                       const char *name) {
  int length = snprintf(out, capacity, "%s/%s", directory, name);

  return length >= 0 && (size_t)length < capacity;
}

static bool directory_write(int fd, const sp_piece *piece) {
  const char *bytes = piece->bytes;
  size_t left = piece->size;

  while (left) {
    ssize_t written = write(fd, bytes, left);

    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      /* POSIX leaves errno alone when nothing was written. */
      if (written == 0)
        errno = ENOSPC;
      return false;
    }
    bytes += written;
    left -= (size_t)written;
  }
  return true;
}

/* Create the temporary file, a leftover of the same name removed. */
static int directory_create(const char *path) {
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = open(path, flags, 0600);

  if (fd < 0 && errno == EEXIST && unlink(path) == 0)
    fd = open(path, flags, 0600);
  return fd;
}

spanprof_status sp_directory_put(const char *directory, const char *name,
                                 const sp_piece *pieces, size_t count) {
  char path[PATH_MAX], temporary[PATH_MAX], hidden[NAME_MAX + 1];
  int fd, error = 0;
  size_t i;

  if (snprintf(hidden, sizeof hidden, ".%s.tmp", name) >= (int)sizeof hidden ||
      !sp_directory_path(path, sizeof path, directory, name) ||
      !sp_directory_path(temporary, sizeof temporary, directory, hidden))
    return sp_fail_errno(SPANPROF_ERR_IO, ENAMETOOLONG, "%s cannot be written",
                         name);
  fd = directory_create(temporary);
  if (fd < 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s cannot be written", path);
  for (i = 0; i < count && !error; i++)
    if (!directory_write(fd, &pieces[i]))
      error = errno;
  /* Some file systems report a full disk only here. */
  if (close(fd) != 0 && !error)
    error = errno;
  if (!error && rename(temporary, path) != 0)
    error = errno;
  if (!error)
    return SPANPROF_OK;
  unlink(temporary);
  return sp_fail_errno(SPANPROF_ERR_IO, error, "%s cannot be written", path);
}

bool sp_directory_number(const char **text, uint64_t *out) {
  const char *p = *text;
  uint64_t number = 0;

  if (*p < '0' || *p > '9' || (p[0] == '0' && p[1] >= '0' && p[1] <= '9'))
    return false;
  for (; *p >= '0' && *p <= '9'; p++) {
    uint64_t digit = (uint64_t)(*p - '0');

    if (number > (UINT64_MAX - digit) / 10)
      return false;
    number = number * 10 + digit;
  }
  *text = p;
  *out = number;
  return true;
}
