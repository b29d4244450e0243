/* One profile on disk, with what it takes to send it later, by whoever: its
 * times, its counts, and the labels of its series. No address and no
 * credentials: those are the sender's. */
#ifndef SP_SPOOL_FILE_H
#define SP_SPOOL_FILE_H

#include "../profile/profile.h"
#include "series.h"

typedef struct sp_spool_file {
  sp_encoded part; /* its bytes lie in `content` */
  sp_series series;
  const sp_mem *mem;
  char *content;
} sp_spool_file;

/* SPANPROF_ERR_IO, in a sentence: nothing is left behind. */
spanprof_status sp_spool_file_write(const char *directory, const char *name,
                                    const sp_encoded *part,
                                    const sp_series *series);

/* SPANPROF_ERR_FORMAT: it is not whole, or none of ours. SPANPROF_ERR_IO,
 * SPANPROF_ERR_NOMEM. On failure `out` is empty. */
spanprof_status sp_spool_file_read(sp_spool_file *out, const sp_mem *mem,
                                   const char *path);

/* The same from bytes of `mem`, which it takes over, also on failure. */
spanprof_status sp_spool_file_parse(sp_spool_file *out, const sp_mem *mem,
                                    char *content, size_t size);
void sp_spool_file_dispose(sp_spool_file *file);

#endif
