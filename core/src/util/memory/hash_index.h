/* A hash index: maps a hash to the numbers of items that are stored elsewhere.
 * It uses open addressing. It is not thread-safe: one thread uses it, or a lock
 * guards it.
 *
 * Some tables have their own hash index instead: tables that signal handlers
 * read or that need no lock (text.c, label_node.c); the table of live spans,
 * which all threads share and which never allocates because it is chained
 * through the spans (span_table.c); and the table of unwind rules, whose
 * indices have two bytes (unwind_rows.c). */
#ifndef SP_HASH_INDEX_H
#define SP_HASH_INDEX_H

#include "hash.h"
#include "mem.h"

#define SP_INDEX_NONE UINT32_MAX

typedef struct sp_index_slot {
  uint32_t hash;
  uint32_t number; /* number of the item + 1; 0: free */
} sp_index_slot;

typedef struct sp_index {
  sp_index_slot *slots;
  uint32_t capacity; /* 0 or a power of 2 */
  uint32_t count;
} sp_index;

/* Reserve capacity for one more item. The index is unchanged if it returns
 * SPANPROF_ERR_NOMEM, or SPANPROF_ERR_LIMIT (there are 2^30 items). */
spanprof_status sp_index_reserve(sp_index *index, const sp_mem *mem);

/* Reserve capacity for `more` items. Returns the statuses of
 * sp_index_reserve(). */
spanprof_status sp_index_reserve_more(sp_index *index, const sp_mem *mem,
                                      uint32_t more);

/* Add an item. The caller has called sp_index_reserve(). */
void sp_index_add(sp_index *index, uint64_t hash, uint32_t number);

/* Remove an item if it is present. */
void sp_index_remove(sp_index *index, uint64_t hash, uint32_t number);

void sp_index_clear(sp_index *index); /* keeps the memory allocated */
void sp_index_dispose(sp_index *index, const sp_mem *mem);

static inline size_t sp_index_bytes(const sp_index *index) {
  return index->capacity * sizeof *index->slots;
}

/* The 32 bits of a hash that are stored. */
static inline uint32_t sp_index_hash32(uint64_t hash) {
  return (uint32_t)(hash ^ (hash >> 32));
}

/* Iterate over the items whose hash may be `hash`. Returns SP_INDEX_NONE at the
 * end. Different hashes may share their stored 32 bits, so the caller compares
 * the items. */
static inline uint32_t sp_index_next(const sp_index *index, uint64_t hash,
                                     uint32_t *at) {
  const uint32_t hash32 = sp_index_hash32(hash), mask = index->capacity - 1;

  for (;; ++*at) {
    const sp_index_slot *slot = &index->slots[*at & mask];

    if (slot->number == 0)
      return SP_INDEX_NONE;
    if (slot->hash == hash32) {
      ++*at;
      return slot->number - 1;
    }
  }
}

static inline uint32_t sp_index_first(const sp_index *index, uint64_t hash,
                                      uint32_t *at) {
  *at = sp_index_hash32(hash);
  return index->capacity ? sp_index_next(index, hash, at) : SP_INDEX_NONE;
}

#endif
