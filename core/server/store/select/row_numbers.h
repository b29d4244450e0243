/* Gives numbers from 0 to the ids of database rows, in the order in which the
 * ids are added. */
#ifndef SP_ROW_NUMBERS_H
#define SP_ROW_NUMBERS_H

#include "server/store/tables/database.h"
#include "util/memory/hash_index.h"

typedef struct sp_row_numbers {
  sp_row_id *ids; /* the id of each number */
  size_t count;
  size_t capacity;
  sp_index index;
} sp_row_numbers;

/* Get the number of an id, which is added if it is new. Returns
 * SPANPROF_ERR_LIMIT if `count_max` ids were added before, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_row_numbers_get(sp_row_numbers *numbers, const sp_mem *mem,
                                   sp_row_id id, size_t count_max,
                                   uint32_t *number);

/* Remove all ids, but keep the memory. */
void sp_row_numbers_clear(sp_row_numbers *numbers);
void sp_row_numbers_dispose(sp_row_numbers *numbers, const sp_mem *mem);

#endif
