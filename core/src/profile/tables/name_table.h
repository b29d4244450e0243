/* Interned strings of profiles: names and files of frames, and labels. Numbers
 * are dense, from 0, which is "". */
#ifndef SP_NAME_TABLE_H
#define SP_NAME_TABLE_H

#include "util/memory/hash_index.h"

/* Maximum length of a string. The server accepts 65,535 bytes of a name
 * (Pyroscope 3fe6a457a, validation.max-profile-symbol-value-length) and 2,048
 * of a label value. But one sample of 512 frames must fit in a part of 1.9 MB,
 * and each frame has three strings (see pprof_limits.h). */
#define SP_NAME_BYTES_MAX  1000
#define SP_LABEL_BYTES_MAX 2048
#define SP_BUILD_ID_MAX    128

typedef struct sp_name {
  size_t at; /* offset in the `text` of the table */
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

/* Remove the names, but keep the memory. */
void sp_name_table_clear(sp_name_table *table);

/* Find or add exactly these bytes, which must be valid UTF-8. Nothing was added
 * if it returns SPANPROF_ERR_NOMEM, or SPANPROF_ERR_LIMIT (there are 2^30
 * names). */
spanprof_status sp_name_table_intern(sp_name_table *table, const char *text,
                                     size_t bytes, uint32_t *out);

/* Clean an external text, then call sp_name_table_intern(). Cleaning makes the
 * text valid UTF-8 without control characters. Only the end of a text longer
 * than `max` (at most SP_LABEL_BYTES_MAX) is kept: it is the more specific part
 * of paths and qualified names, and the server would keep the end, too. */
spanprof_status sp_name_table_clean(sp_name_table *table, const char *text,
                                    size_t bytes, size_t max, uint32_t *out);

/* The bytes of a name, without a NUL; valid until the next string is added. */
const char *sp_name_table_get(const sp_name_table *table, uint32_t number,
                              size_t *bytes);

size_t sp_name_table_bytes(const sp_name_table *table);

#endif
