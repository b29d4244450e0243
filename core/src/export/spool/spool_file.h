/* A profile on disk, with everything that any process needs to send it: its
 * times, its counts, and the labels of its series. It has no address and no
 * credentials; the sender has its own. */
#ifndef SP_SPOOL_FILE_H
#define SP_SPOOL_FILE_H

#include "export/upload/series.h"
#include "profile/profile.h"

typedef struct sp_spool_file {
  sp_encoded part; /* its bytes are part of `content` */
  sp_series series;
  const sp_mem *mem;
  char *content;
} sp_spool_file;

/* Write a file into the open `directory`, whose path is `path`.
 * SPANPROF_ERR_IO: the last error has the reason, and no file is left. */
spanprof_status sp_spool_file_write(int directory, const char *path,
                                    const char *name, const sp_encoded *part,
                                    const sp_series *series);

/* Read a file. SPANPROF_ERR_FORMAT: the file is incomplete, has another format,
 * or is missing. SPANPROF_ERR_IO, SPANPROF_ERR_NOMEM: a later try may succeed.
 * On failure `out` is empty. */
spanprof_status sp_spool_file_read(sp_spool_file *out, const sp_mem *mem,
                                   int directory, const char *name);

/* Read a file from its content, allocated by `mem`. Takes ownership of the
 * content, also on failure. */
spanprof_status sp_spool_file_parse(sp_spool_file *out, const sp_mem *mem,
                                    char *content, size_t size);
void sp_spool_file_dispose(sp_spool_file *file);

/* Write the name of the file of the profile that started at `time_ns`. */
void sp_spool_file_name(uint64_t time_ns, char *out, size_t capacity);

/* Is `name` in `directory` a profile, or (*temporary) an unfinished one that a
 * crash left? */
bool sp_spool_file_inspect(int directory, const char *name, uint64_t *time_ns,
                           uint64_t *size, bool *temporary);

#endif
