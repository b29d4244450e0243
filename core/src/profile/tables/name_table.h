/* Interned strings of profiles: frames' names and files, labels. Numbers are
 * dense from 0, which is "". */
#ifndef SP_NAME_TABLE_H
#define SP_NAME_TABLE_H

#include "util/memory/hash_index.h"

/* The longest string kept. The server takes 65,535 bytes of a name (Pyroscope
 * 3fe6a457a, validation.max-profile-symbol-value-length) and 2,048 of a label
 * value; but one sample of 512 frames has to fit into a part of 1.9 MB, each
 * frame with three strings (see pprof_limits.h). */
#define SP_NAME_BYTES_MAX  1000
#define SP_LABEL_BYTES_MAX 2048
#define SP_BUILD_ID_MAX    128

typedef struct sp_name {
  size_t at; /* in the table's text */
  uint32_t bytes;
} sp_name;

typedef struct sp_name_table {
  const sp_mem *mem;
  char *text;
  size_t text_bytes;
  size_t text_capacity;
  sp_name *names;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_name_table;

void sp_name_table_init(sp_name_table *table, const sp_mem *mem);
void sp_name_table_dispose(sp_name_table *table);

/* Forget the names, keep the memory. */
void sp_name_table_clear(sp_name_table *table);

/* The number of exactly these bytes, which are valid UTF-8.
 * SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT (2^30 names): nothing was added. */
spanprof_status sp_name_table_intern(sp_name_table *table, const char *text,
                                     size_t bytes, uint32_t *out);

/* The same for text of any origin: made valid UTF-8 without control
 * characters, and where it is longer than `max` (at most SP_LABEL_BYTES_MAX)
 * its tail, which of paths and qualified names says more, and is what the
 * server would keep too. */
spanprof_status sp_name_table_clean(sp_name_table *table, const char *text,
                                    size_t bytes, size_t max, uint32_t *out);

/* Valid until the next intern; no NUL behind it. */
const char *sp_name_table_get(const sp_name_table *table, uint32_t number,
                              size_t *bytes);

size_t sp_name_table_bytes(const sp_name_table *table);

#endif
