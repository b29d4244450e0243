#include "span_parents.h"

#include <string.h>

#include "util/system/status.h"

#define PARENTS_SPANS_MAX ((size_t)1 << 20)
#define PARENTS_BATCH     500 /* ids in each SQL statement */

static uint64_t parents_hash(uint64_t span_id) {
  return sp_hash_mix(SP_HASH_SEED, span_id);
}

static sp_span_parent *parents_find(const sp_span_parents *parents,
                                    uint64_t span_id) {
  const uint64_t hash = parents_hash(span_id);
  uint32_t at, i = sp_index_first(&parents->index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&parents->index, hash, &at))
    if (parents->spans[i].span_id == span_id)
      return &parents->spans[i];
  return NULL;
}

const sp_span_parent *sp_span_parents_find(const sp_span_parents *parents,
                                           uint64_t span_id) {
  return parents_find(parents, span_id);
}

static spanprof_status parents_add(sp_span_parents *parents, uint64_t span_id) {
  const sp_mem *mem = parents->query->mem;
  void *array = parents->spans;
  spanprof_status st;

  if (span_id == 0 || parents_find(parents, span_id))
    return SPANPROF_OK;
  if (parents->count == PARENTS_SPANS_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "the query has too many spans: narrow it down");
  st = sp_index_reserve(&parents->index, mem);
  if (!st)
    st = sp_mem_reserve(mem, &array, &parents->capacity, parents->count + 1,
                        sizeof *parents->spans);
  parents->spans = array;
  if (st)
    return st;
  sp_index_add(&parents->index, parents_hash(span_id),
               (uint32_t)parents->count);
  parents->spans[parents->count++] = (sp_span_parent){.span_id = span_id};
  return SPANPROF_OK;
}

static bool parents_set(void *data, const sp_store_span *of) {
  sp_span_parents *parents = data;
  sp_span_parent *span = parents_find(parents, of->span_id);
  uint32_t name;

  if (!span)
    return true;
  parents->st = sp_text_set_add(&parents->names, of->name, &name);
  if (parents->st)
    return false;
  span->name = parents->names.texts[name];
  if (of->parent_id != of->span_id)
    span->parent_id = of->parent_id;
  /* parents_add() may move the spans, so `span` is invalid afterwards. */
  parents->st = parents_add(parents, of->parent_id);
  return !parents->st;
}

/* Look up all spans in the list, also the parents that are added during the
 * loop. */
static spanprof_status parents_look_up(sp_span_parents *parents) {
  uint64_t ids[PARENTS_BATCH];
  spanprof_status st = SPANPROF_OK;
  size_t at, i;

  for (at = 0; !st && at < parents->count; at += i) {
    sp_store_span_filter filter = {.span_ids = ids,
                                   .cancel = parents->query->http->cancel};

    for (i = 0; i < PARENTS_BATCH && at + i < parents->count; i++)
      ids[i] = parents->spans[at + i].span_id;
    filter.span_count = i;
    st = sp_store_spans(parents->query->serve->store, &filter, parents_set,
                        parents);
    if (!st)
      st = parents->st;
  }
  return st;
}

spanprof_status sp_span_parents_read(sp_span_parents *parents, sp_query *query,
                                     const sp_stack_tree *stacks) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  memset(parents, 0, sizeof *parents);
  parents->query = query;
  sp_text_set_init(&parents->names, &query->arena);
  for (i = 0; !st && i < stacks->sample_count; i++)
    st = parents_add(parents, stacks->samples[i].span_id);
  return st ? st : parents_look_up(parents);
}

void sp_span_parents_dispose(sp_span_parents *parents) {
  const sp_mem *mem = parents->query->mem;

  sp_text_set_dispose(&parents->names);
  sp_index_dispose(&parents->index, mem);
  sp_mem_free(mem, parents->spans);
}
