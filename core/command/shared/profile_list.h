/* Files given by name, and those in directories. */
#ifndef SP_PROFILE_LIST_H
#define SP_PROFILE_LIST_H

#include "util/memory/hash_index.h"

/* What a file is, whatever it is called. */
typedef struct sp_profile_identity {
  uint64_t device;
  uint64_t inode;
} sp_profile_identity;

typedef struct sp_profile_list {
  const sp_mem *mem;
  char **paths;
  size_t count;
  size_t capacity;
  size_t repeated; /* given again, and not listed again */
  bool standard_input;
  sp_profile_identity *files;
  size_t file_count;
  size_t file_capacity;
  sp_index file_index;
} sp_profile_list;

/* What a profile may have on disk; more is not read. */
#define SP_PROFILE_FILE_MAX ((size_t)256 << 20)

void sp_profile_list_init(sp_profile_list *list, const sp_mem *mem);
void sp_profile_list_dispose(sp_profile_list *list);

/* Add a file, whatever its name, or the files named *.pb.gz, *.pb, *.pprof and
 * *.prof in a directory and below, sorted; hidden ones, linked directories and
 * what is no file are left out, and what is in the list, under any name.
 * SPANPROF_ERR_IO: it, or a directory below,
 * cannot be read, or there is no profile, said in a sentence; what could be
 * read was added. SPANPROF_ERR_NOMEM. */
spanprof_status sp_profile_list_add(sp_profile_list *list, const char *path);

/* A file's bytes, which the caller frees; "-" is standard input.
 * SPANPROF_ERR_IO, SPANPROF_ERR_LIMIT, SPANPROF_ERR_NOMEM: the sentence does
 * not name the file. */
spanprof_status sp_profile_file_read(const char *path, const sp_mem *mem,
                                     char **out, size_t *size);

#endif
