/* Checks whether files may be read: files that a user names, and files that an
 * earlier process of spanprof wrote. */
#ifndef SP_FILE_H
#define SP_FILE_H

#include <sys/stat.h>

#include "util/base.h"

/* Check that the file can be opened and read. Returns 0 or an errno. It follows
 * symbolic links and accepts pipes and devices, because the user may mean them.
 * It never blocks on a pipe, and never makes a terminal the controlling
 * terminal. */
int sp_file_readable(const char *path);

/* May the opened file be trusted as one that spanprof wrote? It must be a
 * regular file of at most `bytes_max` bytes that no other user can write. The
 * caller opens it with O_NOFOLLOW and O_NONBLOCK, so that links and pipes are
 * excluded. */
bool sp_file_is_ours(const struct stat *info, uint64_t bytes_max);

#endif
