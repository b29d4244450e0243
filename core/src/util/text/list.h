/* Splits lists such as "a, b,,c". */
#ifndef SP_LIST_H
#define SP_LIST_H

#include "util/base.h"

typedef struct sp_list {
  const char *remaining; /* NULL: at the end */
  char separator;
  size_t number; /* item number, from 1; counts empty items */
  /* The item without surrounding blanks; for a list of lines also without a
   * CR. */
  const char *start;
  const char *end;
} sp_list;

/* Start a list over a NUL-terminated text. NULL is an empty list. */
sp_list sp_list_of(const char *text, char separator);

/* Go to the next non-empty item. Returns false at the end. */
bool sp_list_next(sp_list *list);

/* "name=value", both without surrounding blanks. */
typedef struct sp_name_value {
  const char *name;
  size_t name_bytes;
  const char *value;
  size_t value_bytes;
} sp_name_value;

/* Split the item at its first `mark`. Returns false if it has none. */
bool sp_list_pair(const sp_list *list, char mark, sp_name_value *out);

/* Move `start` and `end` inwards past spaces and tabs. */
void sp_list_trim(const char **start, const char **end);

#endif
