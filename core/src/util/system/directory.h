/* A directory of ours: whole files appear in it, or none.
 *
 * Nothing on disk is trusted that others can write: a directory in which
 * someone else can make or rename entries would let him choose what we read,
 * overwrite and remove. So it is opened anew for each piece of work, never
 * through a symbolic link, and everything in it goes by that descriptor. None
 * is kept open, because programs that become daemons close them all. */
#ifndef SP_DIRECTORY_H
#define SP_DIRECTORY_H

#include <sys/stat.h>

#include "util/memory/mem.h"

/* A piece of a file's content. */
typedef struct sp_piece {
  const void *bytes;
  size_t size;
} sp_piece;

#define SP_DIRECTORY_WHY_BYTES 128

/* Is this a directory or file that the process's user alone can write? If not,
 * `why` says what stands against it: "belongs to user 0, not to 1000, as whom
 * this program runs". */
bool sp_directory_private(const struct stat *info,
                          char why[SP_DIRECTORY_WHY_BYTES]);

/* Make sure that `path` is a private directory we can write to, creating it
 * (0700) where only its last part is missing; *out is its absolute path,
 * because the program may change its working directory. SPANPROF_ERR_IO, in a
 * sentence that names `option`; SPANPROF_ERR_NOMEM. */
spanprof_status sp_directory_prepare(char **out, const sp_mem *mem,
                                     const char *option, const char *path);

/* Open the directory of this absolute path, or the one called `name` in it
 * (NULL: itself); the caller closes *out. SPANPROF_ERR_IO, in a sentence: it
 * cannot be opened, or one of them is not private. */
spanprof_status sp_directory_open(int *out, const char *path, const char *name);

/* Write a file of mode 0600: first as `.{name}.tmp`, then renamed. Not synced:
 * a power cut may lose it, a crash does not. SPANPROF_ERR_IO, in a sentence
 * that names the file in `path`, which is that of `directory`: nothing is left
 * behind. */
spanprof_status sp_directory_put(int directory, const char *path,
                                 const char *name, const sp_piece *pieces,
                                 size_t count);

/* "{directory}/{name}"; false: too long. */
bool sp_directory_path(char *out, size_t capacity, const char *directory,
                       const char *name);

#endif
