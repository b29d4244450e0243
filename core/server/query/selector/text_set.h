/* A set of texts, which can be sorted by their bytes. */
#ifndef SP_TEXT_SET_H
#define SP_TEXT_SET_H

#include "profile/tables/arena.h"
#include "util/memory/hash_index.h"

typedef struct sp_text_set {
  sp_arena *arena; /* owns the texts; must outlive the set */
  const char **texts;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_text_set;

void sp_text_set_init(sp_text_set *set, sp_arena *arena);
void sp_text_set_dispose(sp_text_set *set);

/* Add a copy of a text, unless the set has the text. *number gets the index of
 * the text; `number` may be NULL. Can return SPANPROF_ERR_NOMEM, and
 * SPANPROF_ERR_LIMIT if the arena is full. */
spanprof_status sp_text_set_add(sp_text_set *set, const char *text,
                                uint32_t *number);

/* Sort the texts. After this call, no text may be added. */
void sp_text_set_sort(sp_text_set *set);

#endif
