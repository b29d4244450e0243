/* Lists in one text, "a, b,,c": the one splitter of them. */
#ifndef SP_LIST_H
#define SP_LIST_H

#include "util/base.h"

typedef struct sp_list {
  const char *rest; /* NULL: nothing is left */
  char separator;
  size_t number; /* of the item, from 1 on; empty ones count */
  /* The item: without the blanks around it, of a line without its CR. */
  const char *start;
  const char *end;
} sp_list;

/* Of a text that ends with a NUL; NULL is empty. */
sp_list sp_list_of(const char *text, char separator);

/* Go to the next item that is not empty; false: there is none. */
bool sp_list_next(sp_list *list);

/* "name=value", without the blanks around both. */
typedef struct sp_name_value {
  const char *name;
  size_t name_bytes;
  const char *value;
  size_t value_bytes;
} sp_name_value;

/* Cut the item at its first `mark`; false: it has none. */
bool sp_list_pair(const sp_list *list, char mark, sp_name_value *out);

/* Move both ends inwards past spaces and tabs. */
void sp_list_trim(const char **start, const char **end);

#endif
