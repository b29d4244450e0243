/* Lists the files of a tree, and the kind of each file. */
#ifndef FILE_LIST_H
#define FILE_LIST_H

#include <stddef.h>

/* Kinds of files, which the extension of the file name determines. The span of
 * a file is named after its kind. There are few kinds, so that there are few
 * span names. */
typedef enum file_kind {
  FILE_KIND_HEADER,
  FILE_KIND_SOURCE,
  FILE_KIND_TEXT,
  FILE_KIND_MARKUP,
  FILE_KIND_COMPRESSED,
  FILE_KIND_OTHER,
  FILE_KIND_COUNT
} file_kind;

/* Returns the span name of a kind, for example "index header". The string is
 * static. */
const char *file_kind_name(file_kind kind);

typedef struct file_entry {
  char *path;
  file_kind kind;
} file_entry;

typedef struct file_list {
  file_entry *entries;
  size_t count;
  size_t capacity;
} file_list;

/* List the regular files below the `count` directories `roots`. Does not follow
 * links, and skips unreadable directories. Returns 0, or -1 with errno set. */
int file_list_read(file_list *list, char *const *roots, size_t count);

void file_list_free(file_list *list);

#endif
