#include "id_set.h"

#define ID_SET_PAGE_BYTES 4096
#define ID_SET_PAGE_IDS   (8 * ID_SET_PAGE_BYTES)

typedef struct sp_id_set_page {
  uint64_t number;
  uint8_t bits[ID_SET_PAGE_BYTES];
} sp_id_set_page;

static sp_id_set_page *id_set_find(const sp_id_set *set, uint64_t number) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, number);
  uint32_t at, i;

  for (i = sp_index_first(&set->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&set->index, hash, &at))
    if (set->pages[i]->number == number)
      return set->pages[i];
  return NULL;
}

static sp_id_set_page *id_set_new(sp_id_set *set, const sp_mem *mem,
                                  uint64_t number) {
  sp_id_set_page *page;
  void *pages = set->pages;
  const spanprof_status st = sp_mem_reserve(mem, &pages, &set->capacity,
                                            set->count + 1, sizeof *set->pages);

  set->pages = pages;
  if (st || sp_index_reserve(&set->index, mem))
    return NULL;
  page = sp_mem_zero(mem, sizeof *page);
  if (!page)
    return NULL;
  page->number = number;
  sp_index_add(&set->index, sp_hash_mix(SP_HASH_SEED, number),
               (uint32_t)set->count);
  set->pages[set->count++] = page;
  return page;
}

spanprof_status sp_id_set_add(sp_id_set *set, const sp_mem *mem, uint64_t id) {
  const uint64_t number = id / ID_SET_PAGE_IDS;
  const size_t bit = id % ID_SET_PAGE_IDS;
  sp_id_set_page *page = id_set_find(set, number);

  if (!page)
    page = id_set_new(set, mem, number);
  if (!page)
    return SPANPROF_ERR_NOMEM;
  page->bits[bit / 8] |= (uint8_t)(1u << bit % 8);
  return SPANPROF_OK;
}

bool sp_id_set_has(const sp_id_set *set, uint64_t id) {
  const size_t bit = id % ID_SET_PAGE_IDS;
  const sp_id_set_page *page = id_set_find(set, id / ID_SET_PAGE_IDS);

  return page && (page->bits[bit / 8] >> bit % 8 & 1);
}

void sp_id_set_dispose(sp_id_set *set, const sp_mem *mem) {
  size_t i;

  for (i = 0; i < set->count; i++)
    sp_mem_free(mem, set->pages[i]);
  sp_mem_free(mem, set->pages);
  sp_index_dispose(&set->index, mem);
  *set = (sp_id_set){0};
}
