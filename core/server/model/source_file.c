#include "source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/system/clock.h"

#define SOURCE_READ_BYTES ((size_t)64 << 10)

static bool source_is_readable(const struct stat *is) {
  return S_ISREG(is->st_mode) && is->st_size >= 0 &&
         (uint64_t)is->st_size <= SP_SOURCE_BYTES_MAX;
}

/* Open the last name of a path. The type of the file is checked before the file
 * is opened, because opening a device can have effects, and again afterwards,
 * because another process may have replaced the file. */
static int source_open_last(int directory, const char *name, struct stat *is) {
  int fd;

  if (fstatat(directory, name, is, AT_SYMLINK_NOFOLLOW) ||
      !source_is_readable(is))
    return -1;
  fd = openat(directory, name,
              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0 && (fstat(fd, is) || !source_is_readable(is))) {
    close(fd);
    return -1;
  }
  return fd;
}

/* Open a path below an open directory, name by name. No name may be a symbolic
 * link or begin with a dot. `path` is changed. Closes `directory`. */
static int source_walk(int directory, char *path, struct stat *is) {
  while (directory >= 0) {
    char *slash = strchr(path, '/');
    int next = -1;

    if (slash)
      *slash = '\0';
    if (*path == '.' || *path == '\0')
      slash = NULL;
    else if (slash)
      next = openat(directory, path,
                    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    else
      next = source_open_last(directory, path, is);
    close(directory);
    if (!slash)
      return next;
    directory = next;
    path = slash + 1;
  }
  return -1;
}

/* Open the file that `path` names below a directory. realpath() resolves the
 * symbolic links, and the walk follows none, so a file outside the directory
 * cannot be opened even if links change in between. */
static int source_open(const char *directory, const char *path,
                       struct stat *is) {
  char wanted[PATH_MAX], root[PATH_MAX], real[PATH_MAX];
  const int size = snprintf(wanted, sizeof wanted, "%s/%s", directory, path);
  size_t root_size;

  if (size < 0 || (size_t)size >= sizeof wanted || !realpath(directory, root) ||
      !realpath(wanted, real))
    return -1;
  root_size = strlen(root);
  if (root_size <= 1 || strncmp(real, root, root_size) != 0 ||
      real[root_size] != '/')
    return -1;
  return source_walk(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
                     real + root_size + 1, is);
}

/* Read an open file, and close it. *is_text is false for a file with NUL
 * characters. */
static spanprof_status source_read(sp_source_file *out, int fd, bool *is_text) {
  ssize_t got = 1;

  sp_buffer_clear(&out->text);
  while (got > 0 && out->text.size <= SP_SOURCE_BYTES_MAX &&
         sp_buffer_reserve(&out->text, SOURCE_READ_BYTES)) {
    do
      got = read(fd, out->text.data + out->text.size, SOURCE_READ_BYTES);
    while (got < 0 && errno == EINTR);
    if (got > 0)
      out->text.size += (size_t)got;
  }
  close(fd);
  *is_text = got == 0 && out->text.size <= SP_SOURCE_BYTES_MAX &&
             !memchr(out->text.data, '\0', out->text.size);
  return sp_buffer_status(&out->text);
}

/* Returns whether a name in the path begins with a dot, such as "..". */
static bool source_is_hidden(const char *path) {
  return *path == '.' || strstr(path, "/.");
}

/* Read the file if one of the directories has it. */
static spanprof_status source_try(sp_source_file *out,
                                  const char *const *directories, size_t count,
                                  const char *path) {
  struct stat is;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; i < count && !st && !out->path; i++) {
    const int fd = source_open(directories[i], path, &is);
    bool is_text;

    if (fd < 0)
      continue;
    st = source_read(out, fd, &is_text);
    if (st || !is_text)
      continue;
    out->path = path;
    out->modified_ns =
        is.st_mtim.tv_sec * (int64_t)SP_NS_PER_S + (int64_t)is.st_mtim.tv_nsec;
  }
  return st;
}

spanprof_status sp_source_file_find(sp_source_file *out, const sp_mem *mem,
                                    const char *const *directories,
                                    size_t count, const char *file) {
  spanprof_status st = SPANPROF_OK;

  *out = (sp_source_file){0};
  sp_buffer_init(&out->text, mem);
  if (strlen(file) >= PATH_MAX || source_is_hidden(file))
    return SPANPROF_OK;
  while (!st && !out->path && *file) {
    file += strspn(file, "/");
    if (*file)
      st = source_try(out, directories, count, file);
    file += strcspn(file, "/");
  }
  return st;
}

void sp_source_file_dispose(sp_source_file *file) {
  if (file->text.mem)
    sp_buffer_dispose(&file->text);
}

bool sp_source_directory_is(const char *path) {
  char root[PATH_MAX];
  struct stat is;

  return realpath(path, root) && strcmp(root, "/") != 0 && !stat(root, &is) &&
         S_ISDIR(is.st_mode);
}
