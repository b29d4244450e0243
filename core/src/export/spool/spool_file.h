/* A file of the spool: a profile with everything that a process needs to send
 * it, which are its times, its counts, and the labels of its series. The file
 * has no server address and no credentials; the process that sends it uses its
 * own. */
#ifndef SP_SPOOL_FILE_H
#define SP_SPOOL_FILE_H

#include "export/upload/series.h"
#include "profile/profile.h"

typedef struct sp_spool_file {
  sp_encoded part; /* part.bytes points into `content` */
  sp_series series;
  const sp_mem *mem;
  char *content;
} sp_spool_file;

/* Write a file into the open `directory`, whose path is `path`. If the function
 * returns SPANPROF_ERR_IO, the last error has the reason, and no file is left.
 */
spanprof_status sp_spool_file_write(int directory, const char *path,
                                    const char *name, const sp_encoded *part,
                                    const sp_series *series);

/* Read a file. Returns SPANPROF_ERR_FORMAT if the file is incomplete, has
 * another format, or is missing. Returns SPANPROF_ERR_IO or SPANPROF_ERR_NOMEM
 * if a later try may succeed. If the function fails, `out` is empty. */
spanprof_status sp_spool_file_read(sp_spool_file *out, const sp_mem *mem,
                                   int directory, const char *name);

/* Read a file from its content, which was allocated by `mem`. Takes ownership
 * of the content, even if the function fails. */
spanprof_status sp_spool_file_parse(sp_spool_file *out, const sp_mem *mem,
                                    char *content, size_t size);
void sp_spool_file_dispose(sp_spool_file *file);

/* Write the name that the file of a profile has, which is made from the start
 * time `time_ns`. */
void sp_spool_file_name(uint64_t time_ns, char *out, size_t capacity);

/* Is the file `name` in `directory` a profile of the spool? *temporary is set
 * to whether it is an unfinished file that a crash has left. */
bool sp_spool_file_inspect(int directory, const char *name, uint64_t *time_ns,
                           uint64_t *size, bool *temporary);

#endif
