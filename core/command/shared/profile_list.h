/* A list of profile files, given by name or found in directories. */
#ifndef SP_PROFILE_LIST_H
#define SP_PROFILE_LIST_H

#include "util/memory/hash_index.h"

/* The identity of a file, independent of its name. */
typedef struct sp_profile_identity {
  uint64_t device;
  uint64_t inode;
} sp_profile_identity;

typedef struct sp_profile_list {
  const sp_mem *mem;
  char **paths;
  size_t count;
  size_t capacity;
  size_t repeated; /* number of files that the list had already */
  bool standard_input;
  sp_profile_identity *files;
  size_t file_count;
  size_t file_capacity;
  sp_index file_index;
} sp_profile_list;

/* Size of the largest file that is read. */
#define SP_PROFILE_FILE_MAX ((size_t)256 << 20)

void sp_profile_list_init(sp_profile_list *list, const sp_mem *mem);
void sp_profile_list_dispose(sp_profile_list *list);

/* Add a file with any name, or the files named *.pb.gz, *.pb, *.pprof and
 * *.prof in a directory and its subdirectories, sorted. Skips hidden files,
 * symbolic links to directories, special files, and files that the list has
 * already, under any name.
 *
 * Returns SPANPROF_ERR_IO if a file or directory cannot be read or there is no
 * profile; the other files were added. Returns SPANPROF_ERR_NOMEM if memory ran
 * out. A failure sets the error message. */
spanprof_status sp_profile_list_add(sp_profile_list *list, const char *path);

/* Read a file, or standard input if `path` is "-". The caller frees *out with
 * `mem`. Returns SPANPROF_ERR_IO, SPANPROF_ERR_LIMIT (larger than
 * SP_PROFILE_FILE_MAX) or SPANPROF_ERR_NOMEM, and sets the error message, which
 * does not name the file. */
spanprof_status sp_profile_file_read(const char *path, const sp_mem *mem,
                                     char **out, size_t *size);

#endif
