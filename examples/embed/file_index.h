/* An SQLite database of files with a full-text index of the readable ones. */
#ifndef FILE_INDEX_H
#define FILE_INDEX_H

#include <stddef.h>

typedef struct file_index file_index;

typedef struct file_record {
  const char *path;
  const char *kind;
  const char *sha256; /* hex */
  const char *text;   /* indexed by its words; NULL: not */
  size_t text_bytes;
  size_t bytes;
  size_t packed_bytes;
} file_record;

/* Open a new database at `path`, in place of what is there. Returns NULL after
 * a message on stderr. */
file_index *file_index_open(const char *path);

/* Add a file, or replace it. Any thread. Returns 0, or -1 after a message. */
int file_index_add(file_index *index, const file_record *record);

/* Commit and close. NULL is fine. Returns 0, or -1 after a message. */
int file_index_close(file_index *index);

#endif
