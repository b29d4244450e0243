/* A set of ids: one bit for each, in pages that are allocated only where there
 * are ids. In an old store the ids are high, and most lower ones are gone. */
#ifndef SP_ID_SET_H
#define SP_ID_SET_H

#include "util/memory/mem.h"

typedef struct sp_id_set {
  uint8_t **pages; /* NULL: it contains no ids */
  size_t room;
} sp_id_set;

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_id_set_add(sp_id_set *set, const sp_mem *mem, uint32_t id);
bool sp_id_set_has(const sp_id_set *set, uint32_t id);

/* Also of one all zero, which it is then. */
void sp_id_set_dispose(sp_id_set *set, const sp_mem *mem);

#endif
