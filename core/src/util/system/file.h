/* Files that a user names, and those that we left behind: may we read them? */
#ifndef SP_FILE_H
#define SP_FILE_H

#include <sys/stat.h>

#include "util/base.h"

/* Can the file of this name be opened and read? 0, or an errno. Links are
 * followed, and pipes and devices taken, for the user may mean them; none is
 * waited for, or becomes the terminal of this process. */
int sp_file_readable(const char *path);

/* May what is open be believed to be a file of ours: a regular one that nobody
 * else can write to, of at most `bytes_max`? Opened with O_NOFOLLOW and
 * O_NONBLOCK it was neither a link nor waited for. */
bool sp_file_is_ours(const struct stat *info, uint64_t bytes_max);

#endif
