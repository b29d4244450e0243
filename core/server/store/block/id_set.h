/* A set of ids with one bit for each, in pages that are allocated only where
 * there are ids. In an old store the ids are high, and most lower ones are
 * deleted. */
#ifndef SP_ID_SET_H
#define SP_ID_SET_H

#include "util/memory/hash_index.h"
#include "util/memory/mem.h"

struct sp_id_set_page;

typedef struct sp_id_set {
  struct sp_id_set_page **pages;
  size_t count;
  size_t capacity;
  sp_index index; /* of pages by their numbers */
} sp_id_set;

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_id_set_add(sp_id_set *set, const sp_mem *mem, uint64_t id);
bool sp_id_set_has(const sp_id_set *set, uint64_t id);

/* Empty the set. A set that is all zero is empty. */
void sp_id_set_dispose(sp_id_set *set, const sp_mem *mem);

#endif
