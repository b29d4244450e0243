/* Splits lists such as "a, b,,c". */
#ifndef SP_LIST_H
#define SP_LIST_H

#include "util/base.h"

typedef struct sp_list {
  const char *remaining; /* text after the current item; NULL: at the end */
  char separator;
  /* Number of the current item, from 1; empty items are counted. */
  size_t number;
  /* The current item without surrounding blanks; in a list of lines also
   * without a CR. */
  const char *start;
  const char *end;
} sp_list;

/* Start iterating over a NUL-terminated list. NULL is an empty list. */
sp_list sp_list_of(const char *text, char separator);

/* Go to the next item that is not empty. Returns false at the end. */
bool sp_list_next(sp_list *list);

/* A pair "name=value", both without surrounding blanks. */
typedef struct sp_name_value {
  const char *name;
  size_t name_bytes;
  const char *value;
  size_t value_bytes;
} sp_name_value;

/* Split the current item at its first `mark`. Returns false if it contains no
 * `mark`. */
bool sp_list_pair(const sp_list *list, char mark, sp_name_value *out);

/* Move `start` and `end` inwards past spaces and tabs. */
void sp_list_trim(const char **start, const char **end);

#endif
