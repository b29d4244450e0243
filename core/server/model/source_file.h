/* Finds the source files of profiles below the directories that the operator
 * has allowed.
 *
 * Uploads contain the requested paths, so every path may be hostile. Only
 * regular files below a directory are read, after all symbolic links are
 * resolved. Hidden files and folders, whose names begin with a dot, are never
 * read. */
#ifndef SP_SOURCE_FILE_H
#define SP_SOURCE_FILE_H

#include "util/memory/buffer.h"

#define SP_SOURCE_BYTES_MAX ((size_t)2 << 20)

typedef struct sp_source_file {
  const char *path;    /* the part of the requested path that exists below a
                        * directory; NULL: there is no readable text file */
  sp_buffer text;      /* has no NUL characters */
  int64_t modified_ns; /* Unix time */
} sp_source_file;

/* Find a file by the end of its path in a profile. For "/app/models/cart.rb",
 * all directories are searched for "app/models/cart.rb", then for
 * "models/cart.rb", and then for "cart.rb". Can return SPANPROF_ERR_NOMEM;
 * dispose of *out also in this case. `file` must outlive *out. */
spanprof_status sp_source_file_find(sp_source_file *out, const sp_mem *mem,
                                    const char *const *directories,
                                    size_t count, const char *file);
void sp_source_file_dispose(sp_source_file *file);

/* Returns whether a directory may be searched: it exists and is not "/". */
bool sp_source_directory_is(const char *path);

#endif
