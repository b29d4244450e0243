#include "row_numbers.h"

#include "util/system/status.h"

spanprof_status sp_row_numbers_get(sp_row_numbers *numbers, const sp_mem *mem,
                                   sp_row_id id, size_t count_max,
                                   uint32_t *number) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, id);
  void *array = numbers->ids;
  uint32_t at, i;
  spanprof_status st;

  for (i = sp_index_first(&numbers->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&numbers->index, hash, &at)) {
    if (numbers->ids[i] == id) {
      *number = i;
      return SPANPROF_OK;
    }
  }
  if (numbers->count >= count_max)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "the query has too many stacks: narrow it down");
  st = sp_mem_reserve(mem, &array, &numbers->capacity, numbers->count + 1,
                      sizeof *numbers->ids);
  numbers->ids = array;
  if (!st)
    st = sp_index_reserve(&numbers->index, mem);
  if (st)
    return st;
  sp_index_add(&numbers->index, hash, (uint32_t)numbers->count);
  numbers->ids[numbers->count] = id;
  *number = (uint32_t)numbers->count++;
  return SPANPROF_OK;
}

void sp_row_numbers_clear(sp_row_numbers *numbers) {
  sp_index_clear(&numbers->index);
  numbers->count = 0;
}

void sp_row_numbers_dispose(sp_row_numbers *numbers, const sp_mem *mem) {
  sp_mem_free(mem, numbers->ids);
  sp_index_dispose(&numbers->index, mem);
  *numbers = (sp_row_numbers){0};
}
