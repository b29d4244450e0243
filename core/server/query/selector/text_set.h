/* Texts, each once, in the order of their bytes. */
#ifndef SP_TEXT_SET_H
#define SP_TEXT_SET_H

#include "profile/tables/arena.h"
#include "util/memory/hash_index.h"

typedef struct sp_text_set {
  sp_arena *arena; /* of the texts and of all below; outlives the set */
  const char **texts;
  size_t count;
  size_t room;
  sp_index index;
} sp_text_set;

void sp_text_set_init(sp_text_set *set, sp_arena *arena);
void sp_text_set_dispose(sp_text_set *set);

/* Add a copy; *number is the text's place in the order of adding. */
spanprof_status sp_text_set_add(sp_text_set *set, const char *text,
                                uint32_t *number);

/* Afterwards nothing is added. */
void sp_text_set_sort(sp_text_set *set);

#endif
