/* One profile on disk, with what it takes to send it later, by whoever: its
 * times, its counts, and the labels of its series. No address and no
 * credentials: those are the sender's. */
#ifndef SP_SPOOL_FILE_H
#define SP_SPOOL_FILE_H

#include "export/upload/series.h"
#include "profile/profile.h"

typedef struct sp_spool_file {
  sp_encoded part; /* its bytes lie in `content` */
  sp_series series;
  const sp_mem *mem;
  char *content;
} sp_spool_file;

/* Into the open `directory`, which is called `path`. SPANPROF_ERR_IO, in a
 * sentence: nothing is left behind. */
spanprof_status sp_spool_file_write(int directory, const char *path,
                                    const char *name, const sp_encoded *part,
                                    const sp_series *series);

/* SPANPROF_ERR_FORMAT: it is not whole, none of ours, or gone. SPANPROF_ERR_IO,
 * in a sentence, SPANPROF_ERR_NOMEM: another time it may be read. On failure
 * `out` is empty. */
spanprof_status sp_spool_file_read(sp_spool_file *out, const sp_mem *mem,
                                   int directory, const char *name);

/* The same from bytes of `mem`, which it takes over, also on failure. */
spanprof_status sp_spool_file_parse(sp_spool_file *out, const sp_mem *mem,
                                    char *content, size_t size);
void sp_spool_file_dispose(sp_spool_file *file);

/* The name of the profile that started at `time_ns`. */
void sp_spool_file_name(uint64_t time_ns, char *out, size_t capacity);

/* Is `name` in `directory` a profile (or what a crash left of one, then
 * *temporary)? */
bool sp_spool_file_look(int directory, const char *name, uint64_t *time_ns,
                        uint64_t *size, bool *temporary);

#endif
