#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status.h"

bool sp_directory_private(const struct stat *info,
                          char why[SP_DIRECTORY_WHY_BYTES]) {
  if (info->st_uid != geteuid())
    snprintf(why, SP_DIRECTORY_WHY_BYTES,
             "belongs to user %u, but this program runs as user %u",
             (unsigned)info->st_uid, (unsigned)geteuid());
  else if (info->st_mode & (S_IWGRP | S_IWOTH))
    snprintf(why, SP_DIRECTORY_WHY_BYTES,
             "can be written by others (its mode is %04o)",
             (unsigned)info->st_mode & 07777);
  else
    return true;
  return false;
}

spanprof_status sp_directory_prepare(char **out, const sp_mem *mem,
                                     const char *option, const char *path) {
  char absolute[PATH_MAX], why[SP_DIRECTORY_WHY_BYTES];
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
  if (!sp_directory_private(&info, why))
    return sp_fail(SPANPROF_ERR_IO,
                   "%s %s %s; use a separate directory, such as %s/spanprof",
                   option, path, why, path);
  if (faccessat(AT_FDCWD, absolute, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s %s cannot be written to",
                         option, path);
  *out = sp_mem_text(mem, absolute, strlen(absolute));
  return *out ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

/* Check a directory that was opened as `*fd` (-1 with errno set if that
 * failed). Closes it if other users can write it. */
static spanprof_status directory_check(int *fd, const char *path,
                                       const char *name) {
  const char *slash = name ? "/" : "", *last = name ? name : "";
  char why[SP_DIRECTORY_WHY_BYTES] = "cannot be examined";
  struct stat info;

  if (*fd < 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s%s%s cannot be opened",
                         path, slash, last);
  if (fstat(*fd, &info) == 0 && sp_directory_private(&info, why))
    return SPANPROF_OK;
  close(*fd);
  *fd = -1;
  return sp_fail(SPANPROF_ERR_IO, "%s%s%s is not used: it %s", path, slash,
                 last, why);
}

spanprof_status sp_directory_open(int *out, const char *path,
                                  const char *name) {
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int parent = open(path, flags);
  spanprof_status st = directory_check(&parent, path, NULL);

  *out = -1;
  if (st || !name) {
    *out = parent;
    return st;
  }
  *out = openat(parent, name, flags);
  st = directory_check(out, path, name);
  close(parent);
  return st;
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
      /* write() need not set errno if it wrote nothing. */
      if (written == 0)
        errno = ENOSPC;
      return false;
    }
    bytes += written;
    left -= (size_t)written;
  }
  return true;
}

/* Create the temporary file. An old file of the same name is removed. */
static int directory_create(int directory, const char *name) {
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(directory, name, flags, 0600);

  if (fd < 0 && errno == EEXIST && unlinkat(directory, name, 0) == 0)
    fd = openat(directory, name, flags, 0600);
  return fd;
}

spanprof_status sp_directory_put(int directory, const char *path,
                                 const char *name, const sp_piece *pieces,
                                 size_t count) {
  char temporary[NAME_MAX + 1];
  int fd, error = 0;
  size_t i;

  if (snprintf(temporary, sizeof temporary, ".%s.tmp", name) >=
      (int)sizeof temporary)
    return sp_fail_errno(SPANPROF_ERR_IO, ENAMETOOLONG, "%s cannot be written",
                         name);
  fd = directory_create(directory, temporary);
  if (fd < 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s/%s cannot be written",
                         path, name);
  for (i = 0; i < count && !error; i++)
    if (!directory_write(fd, &pieces[i]))
      error = errno;
  /* Some file systems report a full disk only when the file is closed. */
  if (close(fd) != 0 && !error)
    error = errno;
  if (!error && renameat(directory, temporary, directory, name) != 0)
    error = errno;
  if (!error)
    return SPANPROF_OK;
  unlinkat(directory, temporary, 0);
  return sp_fail_errno(SPANPROF_ERR_IO, error, "%s/%s cannot be written", path,
                       name);
}
