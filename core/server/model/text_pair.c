#include "text_pair.h"

#include <string.h>

const char *sp_text_pairs_find(const sp_text_pairs *pairs, const char *name) {
  size_t i;

  for (i = 0; i < pairs->count; i++)
    if (strcmp(pairs->pairs[i].name, name) == 0)
      return pairs->pairs[i].value;
  return NULL;
}
