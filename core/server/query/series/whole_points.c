#include "whole_points.h"

#include <string.h>

#include "server/model/sum.h"
#include "server/query/wire/query_plan.h"

void sp_whole_points_init(sp_whole_points *points, sp_arena *arena,
                          const sp_texts *group_by) {
  *points = (sp_whole_points){.arena = arena};
  sp_series_groups_init(&points->groups, arena, group_by);
}

void sp_whole_points_dispose(sp_whole_points *points) {
  if (!points->arena)
    return;
  sp_series_groups_dispose(&points->groups);
  sp_index_dispose(&points->index, points->arena->mem);
  sp_mem_free(points->arena->mem, points->points);
  *points = (sp_whole_points){0};
}

static bool whole_same(const sp_whole_point *whole, uint32_t group,
                       const sp_store_point *point) {
  const sp_exemplar *known = &whole->exemplar;

  return whole->group == group &&
         memcmp(&known->profile, &point->profile, sizeof point->profile) == 0 &&
         known->span_id == point->span_id &&
         known->trace_id.hi == point->trace_id.hi &&
         known->trace_id.lo == point->trace_id.lo;
}

/* Remove the labels of a point that another series of the profile does not
 * have. */
static spanprof_status whole_narrow(sp_whole_points *points,
                                    sp_whole_point *whole,
                                    const sp_text_pairs *other) {
  const sp_text_pairs *had = whole->exemplar.labels;
  size_t i, count = 0;

  if (!whole->own && had == other)
    return SPANPROF_OK;
  if (!whole->own) {
    whole->own =
        sp_arena_new(points->arena, had->count + 1, sizeof *whole->own);
    if (!whole->own)
      return points->arena->st;
    memcpy(whole->own, had->pairs, had->count * sizeof *whole->own);
    whole->labels = (sp_text_pairs){.pairs = whole->own, .count = had->count};
  }
  for (i = 0; i < whole->labels.count; i++) {
    const char *value = sp_text_pairs_find(other, whole->own[i].name);

    if (value && strcmp(value, whole->own[i].value) == 0)
      whole->own[count++] = whole->own[i];
  }
  whole->labels.count = count;
  return SPANPROF_OK;
}

static spanprof_status whole_new(sp_whole_points *points, uint64_t hash,
                                 uint32_t series, const sp_store_point *point) {
  const sp_mem *mem = points->arena->mem;
  spanprof_status st;

  if (points->count >= SP_QUERY_MEMORY_MAX / sizeof *points->points)
    return SPANPROF_ERR_LIMIT;
  st = sp_index_reserve(&points->index, mem);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&points->points, &points->capacity,
                        points->count + 1, sizeof *points->points);
  if (st)
    return st;
  sp_index_add(&points->index, hash, (uint32_t)points->count);
  points->points[points->count++] = (sp_whole_point){
      .exemplar = sp_exemplar_of(point, points->groups.seen[series].copy),
      .group = points->groups.seen[series].group};
  return SPANPROF_OK;
}

bool sp_whole_points_add(void *data, const sp_store_point *point) {
  sp_whole_points *points = data;
  uint32_t series, group, at, i;
  sp_whole_point *whole;
  uint64_t hash;

  points->st = sp_series_groups_find(&points->groups, point->labels, &series);
  if (points->st)
    return false;
  group = points->groups.seen[series].group;
  hash =
      sp_hash_mix(sp_hash_bytes(&point->profile, sizeof point->profile) ^ group,
                  point->span_id);
  i = sp_index_first(&points->index, hash, &at);
  while (i != SP_INDEX_NONE && !whole_same(&points->points[i], group, point))
    i = sp_index_next(&points->index, hash, &at);
  if (i == SP_INDEX_NONE) {
    points->st = whole_new(points, hash, series, point);
    return !points->st;
  }
  whole = &points->points[i];
  whole->exemplar.value = sp_sum(whole->exemplar.value, point->value);
  points->st = whole_narrow(points, whole, points->groups.seen[series].copy);
  return !points->st;
}

void sp_whole_points_finish(sp_whole_points *points) {
  size_t i;

  for (i = 0; i < points->count; i++)
    if (points->points[i].own)
      points->points[i].exemplar.labels = &points->points[i].labels;
}
