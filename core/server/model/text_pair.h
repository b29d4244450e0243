/* A name and a value: a label, a header or a parameter. */
#ifndef SP_TEXT_PAIR_H
#define SP_TEXT_PAIR_H

#include "util/base.h"

typedef struct sp_text_pair {
  const char *name;
  const char *value;
} sp_text_pair;

/* A list of pairs. The labels of a series are sorted by the bytes of their
 * names. */
typedef struct sp_text_pairs {
  const sp_text_pair *pairs;
  size_t count;
} sp_text_pairs;

/* Returns the value of the first pair with this name, or NULL. */
const char *sp_text_pairs_find(const sp_text_pairs *pairs, const char *name);

#endif
