#include "list.h"

#include <string.h>

sp_list sp_list_of(const char *text, char separator) {
  return (sp_list){.remaining = text, .separator = separator};
}

bool sp_list_next(sp_list *list) {
  while (list->remaining) {
    const char *next = strchr(list->remaining, list->separator);

    list->start = list->remaining;
    list->end = next ? next : list->remaining + strlen(list->remaining);
    list->remaining = next ? next + 1 : NULL;
    list->number++;
    if (list->separator == '\n' && list->end > list->start &&
        list->end[-1] == '\r')
      list->end--;
    sp_list_trim(&list->start, &list->end);
    if (list->start < list->end)
      return true;
  }
  return false;
}

bool sp_list_pair(const sp_list *list, char mark, sp_name_value *out) {
  const char *at = memchr(list->start, mark, (size_t)(list->end - list->start));
  const char *name = list->start, *name_end = at, *value, *end = list->end;

  if (!at)
    return false;
  value = at + 1;
  sp_list_trim(&name, &name_end);
  sp_list_trim(&value, &end);
  *out = (sp_name_value){name, (size_t)(name_end - name), value,
                         (size_t)(end - value)};
  return true;
}

void sp_list_trim(const char **start, const char **end) {
  while (*start < *end && (**start == ' ' || **start == '\t'))
    ++*start;
  while (*end > *start && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
    --*end;
}
