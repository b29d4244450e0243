#include "tid_map.h"

#include "../util/hash.h"

static size_t tid_home(const sp_tid_map *map, int tid) {
  return sp_hash_mix(SP_HASH_SEED, (uint64_t)tid) & (map->capacity - 1);
}

/* The slot of `tid`, or the empty one where it belongs. */
static struct sp_tid_slot *tid_slot(const sp_tid_map *map, int tid) {
  size_t at = tid_home(map, tid);

  while (map->slots[at].tid != 0 && map->slots[at].tid != tid)
    at = (at + 1) & (map->capacity - 1);
  return &map->slots[at];
}

uint32_t sp_tid_map_get(const sp_tid_map *map, int tid) {
  const struct sp_tid_slot *slot;

  if (map->capacity == 0)
    return 0;
  slot = tid_slot(map, tid);
  return slot->tid == tid ? slot->index : 0;
}

static spanprof_status map_grow(sp_tid_map *map) {
  sp_tid_map larger = {.mem = map->mem,
                       .capacity = map->capacity ? map->capacity * 2 : 64};
  size_t i;

  larger.slots = sp_mem_zero(map->mem, larger.capacity * sizeof *larger.slots);
  if (!larger.slots)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < map->capacity; i++)
    if (map->slots[i].tid != 0)
      *tid_slot(&larger, map->slots[i].tid) = map->slots[i];
  larger.count = map->count;
  sp_mem_free(map->mem, map->slots);
  *map = larger;
  return SPANPROF_OK;
}

spanprof_status sp_tid_map_set(sp_tid_map *map, int tid, uint32_t index) {
  struct sp_tid_slot *slot;

  if ((map->count + 1) * 2 > map->capacity && map_grow(map))
    return SPANPROF_ERR_NOMEM;
  slot = tid_slot(map, tid);
  if (slot->tid == 0) {
    slot->tid = tid;
    map->count++;
  }
  slot->index = index;
  return SPANPROF_OK;
}

void sp_tid_map_remove(sp_tid_map *map, int tid) {
  struct sp_tid_slot *slot;
  size_t hole, at;

  if (map->capacity == 0)
    return;
  slot = tid_slot(map, tid);
  if (slot->tid != tid)
    return;
  map->count--;
  hole = (size_t)(slot - map->slots);
  map->slots[hole].tid = 0;
  /* Close the gap: whatever stands behind it and could not be found across it
   * moves into it. */
  for (at = (hole + 1) & (map->capacity - 1); map->slots[at].tid != 0;
       at = (at + 1) & (map->capacity - 1)) {
    size_t home = tid_home(map, map->slots[at].tid);

    if (((at - home) & (map->capacity - 1)) <
        ((at - hole) & (map->capacity - 1)))
      continue;
    map->slots[hole] = map->slots[at];
    map->slots[at].tid = 0;
    hole = at;
  }
}

void sp_tid_map_dispose(sp_tid_map *map) {
  sp_mem_free(map->mem, map->slots);
  *map = (sp_tid_map){.mem = map->mem};
}
