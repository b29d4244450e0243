/* A directory of ours: whole files appear in it, or none. */
#ifndef SP_DIRECTORY_H
#define SP_DIRECTORY_H

#include "../util/mem.h"

/* A piece of a file's content. */
typedef struct sp_piece {
  const void *bytes;
  size_t size;
} sp_piece;

/* Make sure that `path` is a directory we can write to, creating it (0700)
 * where only its last part is missing; *out is its absolute path, because the
 * program may change its working directory. SPANPROF_ERR_IO, in a sentence that
 * names `option`; SPANPROF_ERR_NOMEM. */
spanprof_status sp_directory_prepare(char **out, const sp_mem *mem,
                                     const char *option, const char *path);

/* Write a file of mode 0600: first as `.{name}.tmp`, then renamed. Not synced:
 * a power cut may lose it, a crash does not. SPANPROF_ERR_IO, in a sentence
 * that names the file: nothing is left behind. */
spanprof_status sp_directory_put(const char *directory, const char *name,
                                 const sp_piece *pieces, size_t count);

/* "{directory}/{name}"; false: too long. */
bool sp_directory_path(char *out, size_t capacity, const char *directory,
                       const char *name);

/* Read a decimal number without leading zeros at *text and step over it. */
bool sp_directory_number(const char **text, uint64_t *out);

#endif
