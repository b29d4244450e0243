/* A set of ids with one bit for each, in pages that are allocated only where
 * there are ids. This saves memory in an old store, where the ids are high and
 * most of the lower ones are deleted. */
#ifndef SP_ID_SET_H
#define SP_ID_SET_H

#include "util/memory/hash_index.h"
#include "util/memory/mem.h"

struct sp_id_set_page;

typedef struct sp_id_set {
  struct sp_id_set_page **pages;
  size_t count;
  size_t capacity;
  sp_index index; /* finds a page by its number */
} sp_id_set;

/* Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_id_set_add(sp_id_set *set, const sp_mem *mem, uint64_t id);
bool sp_id_set_has(const sp_id_set *set, uint64_t id);

/* Empty the set and free its memory. A set that is all zero is empty. */
void sp_id_set_dispose(sp_id_set *set, const sp_mem *mem);

#endif
