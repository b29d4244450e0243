#include "text_set.h"

#include <stdlib.h>
#include <string.h>

#include "matcher_list.h"

void sp_text_set_init(sp_text_set *set, sp_arena *arena) {
  *set = (sp_text_set){.arena = arena};
}

void sp_text_set_dispose(sp_text_set *set) {
  if (!set->arena)
    return;
  sp_index_dispose(&set->index, set->arena->mem);
  sp_mem_free(set->arena->mem, set->texts);
  *set = (sp_text_set){0};
}

spanprof_status sp_text_set_add(sp_text_set *set, const char *text,
                                uint32_t *number) {
  const sp_mem *mem = set->arena->mem;
  const uint64_t hash = sp_hash_bytes(text, strlen(text));
  uint32_t at, i = sp_index_first(&set->index, hash, &at);
  const char *copy;
  spanprof_status st;

  while (i != SP_INDEX_NONE && strcmp(set->texts[i], text) != 0)
    i = sp_index_next(&set->index, hash, &at);
  if (i == SP_INDEX_NONE) {
    st = sp_index_reserve(&set->index, mem);
    if (!st)
      st = sp_mem_reserve(mem, (void **)&set->texts, &set->capacity,
                          set->count + 1, sizeof *set->texts);
    if (st)
      return st;
    copy = sp_arena_text(set->arena, text, strlen(text));
    if (!copy)
      return set->arena->st;
    i = (uint32_t)set->count++;
    set->texts[i] = copy;
    sp_index_add(&set->index, hash, i);
  }
  if (number)
    *number = i;
  return SPANPROF_OK;
}

static int set_order(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sp_text_set_sort(sp_text_set *set) {
  if (set->count)
    qsort(set->texts, set->count, sizeof *set->texts, set_order);
}
