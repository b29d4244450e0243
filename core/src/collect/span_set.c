#include "span_set.h"

#include <string.h>

#include "../span/span.h"
#include "../util/hash.h"

/* Room for this many is kept from window to window. */
#define SPAN_SET_KEPT 4096

void sp_span_set_init(sp_span_set *set, const sp_mem *mem) {
  *set = (sp_span_set){.mem = mem};
}

static spanprof_span *span_slot(spanprof_span *slots, size_t capacity,
                                spanprof_span span) {
  size_t at = sp_hash_mix(SP_HASH_SEED2, span) & (capacity - 1);

  while (slots[at] != 0 && slots[at] != span)
    at = (at + 1) & (capacity - 1);
  return &slots[at];
}

static bool span_set_grow(sp_span_set *set) {
  size_t capacity = set->capacity ? set->capacity * 2 : 64, i;
  spanprof_span *slots = sp_mem_zero(set->mem, capacity * sizeof *slots);

  if (!slots)
    return false;
  for (i = 0; i < set->capacity; i++)
    if (set->slots[i] != 0)
      *span_slot(slots, capacity, set->slots[i]) = set->slots[i];
  sp_mem_free(set->mem, set->slots);
  set->slots = slots;
  set->capacity = capacity;
  return true;
}

void sp_span_set_add(sp_span_set *set, spanprof_span span) {
  spanprof_span *slot;

  if (span == 0)
    return;
  if ((set->count + 1) * 2 > set->capacity && !span_set_grow(set))
    return;
  slot = span_slot(set->slots, set->capacity, span);
  if (*slot == span || !spanprof_span_retain(span))
    return;
  *slot = span;
  set->count++;
}

void sp_span_set_clear(sp_span_set *set) {
  size_t i;

  for (i = 0; i < set->capacity; i++)
    if (set->slots[i] != 0)
      spanprof_span_release(set->slots[i]);
  if (set->capacity > SPAN_SET_KEPT)
    sp_span_set_dispose(set);
  else if (set->capacity)
    memset(set->slots, 0, set->capacity * sizeof *set->slots);
  set->count = 0;
}

void sp_span_set_dispose(sp_span_set *set) {
  sp_mem_free(set->mem, set->slots);
  sp_span_set_init(set, set->mem);
}
