#include "series_groups.h"

#include <stdlib.h>
#include <string.h>

#include "server/model/query_time.h"
#include "server/query/selector/matcher_list.h"

void sp_series_groups_init(sp_series_groups *groups, sp_arena *arena,
                           const sp_texts *by) {
  *groups = (sp_series_groups){.arena = arena, .by = by};
}

void sp_series_groups_dispose(sp_series_groups *groups) {
  const sp_mem *mem = groups->arena ? groups->arena->mem : NULL;

  if (!mem)
    return;
  sp_mem_free(mem, groups->groups);
  sp_mem_free(mem, groups->seen);
  sp_index_dispose(&groups->seen_index, mem);
  sp_index_dispose(&groups->group_index, mem);
  *groups = (sp_series_groups){0};
}

static spanprof_status groups_copy(sp_series_groups *groups,
                                   const sp_text_pairs *from,
                                   const sp_text_pairs **out) {
  sp_text_pair *pairs =
      sp_arena_new(groups->arena, from->count + 1, sizeof *pairs);
  sp_text_pairs *copy = sp_arena_new(groups->arena, 1, sizeof *copy);
  size_t i;

  if (!pairs || !copy)
    return groups->arena->st;
  for (i = 0; i < from->count; i++) {
    pairs[i].name = sp_arena_text(groups->arena, from->pairs[i].name,
                                  strlen(from->pairs[i].name));
    pairs[i].value = sp_arena_text(groups->arena, from->pairs[i].value,
                                   strlen(from->pairs[i].value));
    if (!pairs[i].name || !pairs[i].value)
      return groups->arena->st;
  }
  *copy = (sp_text_pairs){.pairs = pairs, .count = from->count};
  *out = copy;
  return SPANPROF_OK;
}

/* Get the labels of a series by which the query groups the series. The texts
 * are not copied. */
static spanprof_status groups_chosen(sp_series_groups *groups,
                                     const sp_text_pairs *labels,
                                     sp_text_pairs *out) {
  sp_text_pair *pairs =
      sp_arena_new(groups->arena, groups->by->count + 1, sizeof *pairs);
  size_t i, count = 0;

  if (!pairs)
    return groups->arena->st;
  for (i = 0; i < groups->by->count; i++) {
    const char *value = sp_text_pairs_find(labels, groups->by->texts[i]);

    if (value)
      pairs[count++] =
          (sp_text_pair){.name = groups->by->texts[i], .value = value};
  }
  *out = (sp_text_pairs){.pairs = pairs, .count = count};
  return SPANPROF_OK;
}

static int pairs_order(const sp_text_pairs *left, const sp_text_pairs *right) {
  size_t i;
  int order;

  for (i = 0; i < left->count && i < right->count; i++) {
    order = strcmp(left->pairs[i].name, right->pairs[i].name);
    if (order == 0)
      order = strcmp(left->pairs[i].value, right->pairs[i].value);
    if (order != 0)
      return order;
  }
  return (left->count > right->count) - (left->count < right->count);
}

static uint64_t pairs_hash(const sp_text_pairs *pairs) {
  uint64_t hash = SP_HASH_SEED;
  size_t i;

  for (i = 0; i < pairs->count; i++) {
    hash = sp_hash_mix(hash, sp_hash_bytes(pairs->pairs[i].name,
                                           strlen(pairs->pairs[i].name)));
    hash = sp_hash_mix(hash, sp_hash_bytes(pairs->pairs[i].value,
                                           strlen(pairs->pairs[i].value)));
  }
  return hash;
}

static spanprof_status groups_group(sp_series_groups *groups,
                                    const sp_text_pairs *labels,
                                    uint32_t *out) {
  const sp_mem *mem = groups->arena->mem;
  sp_text_pairs chosen;
  uint64_t hash;
  uint32_t at, i;
  spanprof_status st = groups_chosen(groups, labels, &chosen);

  if (st)
    return st;
  hash = pairs_hash(&chosen);
  i = sp_index_first(&groups->group_index, hash, &at);
  while (i != SP_INDEX_NONE &&
         pairs_order(&groups->groups[i].labels, &chosen) != 0)
    i = sp_index_next(&groups->group_index, hash, &at);
  if (i == SP_INDEX_NONE) {
    st = sp_index_reserve(&groups->group_index, mem);
    if (!st)
      st = sp_mem_reserve(mem, (void **)&groups->groups, &groups->capacity,
                          groups->count + 1, sizeof *groups->groups);
    if (st)
      return st;
    i = (uint32_t)groups->count++;
    groups->groups[i] = (sp_series_group){.labels = chosen};
    sp_index_add(&groups->group_index, hash, i);
  }
  *out = i;
  return SPANPROF_OK;
}

spanprof_status sp_series_groups_find(sp_series_groups *groups,
                                      const sp_text_pairs *labels,
                                      uint32_t *out) {
  const sp_mem *mem = groups->arena->mem;
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, (uintptr_t)labels);
  uint32_t at, i = sp_index_first(&groups->seen_index, hash, &at);
  sp_series_seen seen = {.labels = labels};
  spanprof_status st;

  while (i != SP_INDEX_NONE && groups->seen[i].labels != labels)
    i = sp_index_next(&groups->seen_index, hash, &at);
  *out = i;
  if (i != SP_INDEX_NONE)
    return SPANPROF_OK;
  st = groups_copy(groups, labels, &seen.copy);
  if (!st)
    st = groups_group(groups, seen.copy, &seen.group);
  if (!st)
    st = sp_index_reserve(&groups->seen_index, mem);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&groups->seen, &groups->seen_capacity,
                        groups->seen_count + 1, sizeof *groups->seen);
  if (st)
    return st;
  *out = (uint32_t)groups->seen_count++;
  groups->seen[*out] = seen;
  sp_index_add(&groups->seen_index, hash, *out);
  return SPANPROF_OK;
}

typedef struct groups_sorted {
  const sp_series_group *group;
  uint32_t number;
} groups_sorted;

static int groups_order(const void *a, const void *b) {
  const sp_series_group *left = ((const groups_sorted *)a)->group;
  const sp_series_group *right = ((const groups_sorted *)b)->group;

  if (left->total != right->total)
    return left->total < right->total ? 1 : -1;
  return pairs_order(&left->labels, &right->labels);
}

spanprof_status sp_series_groups_sort(const sp_series_groups *groups,
                                      uint32_t **out) {
  const size_t count = groups->count + 1;
  groups_sorted *sorted = sp_arena_new(groups->arena, count, sizeof *sorted);
  uint32_t *numbers = sp_arena_new(groups->arena, count, sizeof *numbers);
  uint32_t i;

  if (!sorted || !numbers)
    return groups->arena->st;
  for (i = 0; i < groups->count; i++)
    sorted[i] = (groups_sorted){.group = &groups->groups[i], .number = i};
  qsort(sorted, groups->count, sizeof *sorted, groups_order);
  for (i = 0; i < groups->count; i++)
    numbers[i] = sorted[i].number;
  *out = numbers;
  return SPANPROF_OK;
}

void sp_series_put_labels(sp_reply *reply, uint32_t field,
                          const sp_text_pairs *labels) {
  size_t i;

  if (labels->count == 0)
    return;
  sp_reply_list(reply, "labels");
  for (i = 0; i < labels->count; i++) {
    sp_reply_item(reply, field);
    sp_reply_text(reply, 1, "name", labels->pairs[i].name);
    sp_reply_text(reply, 2, "value", labels->pairs[i].value);
    sp_reply_close(reply);
  }
  sp_reply_list_end(reply);
}

static int64_t groups_time(int64_t ms) {
  return ms > SP_TIME_MS_MAX    ? SP_TIME_MS_MAX
         : ms < -SP_TIME_MS_MAX ? -SP_TIME_MS_MAX
                                : ms;
}

sp_series_steps sp_series_steps_of(int64_t start_ms, int64_t end_ms,
                                   double step_s) {
  const double step_ms = step_s * 1000;
  const int64_t step = step_ms < 9e15 ? (int64_t)step_ms : (int64_t)9e15;
  const int64_t start = groups_time(start_ms);

  return (sp_series_steps){.start_ms = start,
                           .step_ms = step,
                           .last = (groups_time(end_ms) - start) / step};
}

int64_t sp_series_step(const sp_series_steps *steps, int64_t time_ms) {
  const int64_t after = time_ms - steps->start_ms;
  const int64_t step = after <= 0 ? 0 : (after - 1) / steps->step_ms + 1;

  return step > steps->last ? -1 : step;
}
