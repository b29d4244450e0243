/* An SQLite database of files, with a full-text index of those files that
 * contain text. */
#ifndef FILE_INDEX_H
#define FILE_INDEX_H

#include <stddef.h>

typedef struct file_index file_index;

typedef struct file_record {
  const char *path;
  const char *kind;
  const char *sha256; /* hexadecimal */
  const char *text;   /* text whose words are indexed, or NULL */
  size_t text_bytes;
  size_t bytes;
  size_t packed_bytes;
} file_record;

/* Create a database at `path`; an existing file is replaced. If it fails,
 * prints a message on stderr and returns NULL. */
file_index *file_index_open(const char *path);

/* Add a file, or replace it. Any thread may call this. Returns 0. If it fails,
 * prints a message and returns -1. */
int file_index_add(file_index *index, const file_record *record);

/* Commit the last transaction and close the database. `index` may be NULL.
 * Returns 0. If it fails, prints a message and returns -1. */
int file_index_close(file_index *index);

#endif
