#include "span_set.h"

#include "span/span.h"

/* Number of spans for which memory is kept until the next window. */
#define SPAN_SET_KEPT 4096

void sp_span_set_init(sp_span_set *set, const sp_mem *mem) {
  *set = (sp_span_set){.mem = mem};
}

static bool span_set_has(const sp_span_set *set, spanprof_span span,
                         uint64_t hash) {
  uint32_t at, number;

  for (number = sp_index_first(&set->index, hash, &at); number != SP_INDEX_NONE;
       number = sp_index_next(&set->index, hash, &at))
    if (set->spans[number] == span)
      return true;
  return false;
}

void sp_span_set_add(sp_span_set *set, spanprof_span span) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED2, span);

  if (span == 0 || span_set_has(set, span, hash) ||
      sp_index_reserve(&set->index, set->mem) ||
      sp_mem_reserve(set->mem, (void **)&set->spans, &set->capacity,
                     set->count + 1, sizeof *set->spans) ||
      !spanprof_span_retain(span))
    return;
  set->spans[set->count] = span;
  sp_index_add(&set->index, hash, (uint32_t)set->count++);
}

void sp_span_set_clear(sp_span_set *set) {
  size_t i;

  for (i = 0; i < set->count; i++)
    spanprof_span_release(set->spans[i]);
  set->count = 0;
  sp_index_clear(&set->index);
  if (set->capacity > SPAN_SET_KEPT)
    sp_span_set_dispose(set);
}

void sp_span_set_dispose(sp_span_set *set) {
  sp_mem_free(set->mem, set->spans);
  sp_index_dispose(&set->index, set->mem);
  sp_span_set_init(set, set->mem);
}
