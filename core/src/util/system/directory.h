/* Private directories in which complete files appear atomically.
 *
 * A directory in which other users can create or rename entries is refused,
 * because these users could choose which files this process reads, overwrites
 * and removes. So the directory is opened and checked again for each operation,
 * never through a symbolic link, and all its files are accessed through the
 * directory's descriptor. No descriptor stays open, because programs that
 * become daemons close all of them. */
#ifndef SP_DIRECTORY_H
#define SP_DIRECTORY_H

#include <sys/stat.h>

#include "util/memory/mem.h"

/* One piece of a file's content. */
typedef struct sp_piece {
  const void *bytes;
  size_t size;
} sp_piece;

#define SP_DIRECTORY_WHY_BYTES 128

/* Is only this process's user able to write this directory or file? If not,
 * `why` receives the reason, such as "belongs to user 0, but this program runs
 * as user 1000". */
bool sp_directory_private(const struct stat *info,
                          char why[SP_DIRECTORY_WHY_BYTES]);

/* Ensure that `path` is a private, writable directory. Create it (mode 0700) if
 * only its last component is missing. *out is its absolute path, because the
 * program may change its working directory; the caller frees it. Returns
 * SPANPROF_ERR_IO with a message that names `option`, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_directory_prepare(char **out, const sp_mem *mem,
                                     const char *option, const char *path);

/* Open the directory `path` (absolute), or its subdirectory `name` if that is
 * not NULL. The caller closes *out. Returns SPANPROF_ERR_IO and sets a message
 * if one of them cannot be opened or is not private. */
spanprof_status sp_directory_open(int *out, const char *path, const char *name);

/* Write a file of mode 0600: first as `.{name}.tmp`, which is then renamed. The
 * file is not synced: a power failure may lose it, but a crash of the process
 * does not. `path` is the path of `directory`, for messages. If it fails, no
 * part of the file remains, and it returns SPANPROF_ERR_IO and sets a message
 * that names the file. */
spanprof_status sp_directory_put(int directory, const char *path,
                                 const char *name, const sp_piece *pieces,
                                 size_t count);

/* Write "{directory}/{name}". Returns false if the result is too long. */
bool sp_directory_path(char *out, size_t capacity, const char *directory,
                       const char *name);

#endif
