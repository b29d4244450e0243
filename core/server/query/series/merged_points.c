#include "merged_points.h"

#include <string.h>

#include "server/model/sum.h"
#include "server/query/wire/query_plan.h"

void sp_merged_points_init(sp_merged_points *points, sp_arena *arena,
                           const sp_texts *group_by) {
  *points = (sp_merged_points){.arena = arena};
  sp_series_groups_init(&points->groups, arena, group_by);
}

void sp_merged_points_dispose(sp_merged_points *points) {
  if (!points->arena)
    return;
  sp_series_groups_dispose(&points->groups);
  sp_index_dispose(&points->index, points->arena->mem);
  sp_mem_free(points->arena->mem, points->points);
  *points = (sp_merged_points){0};
}

static bool merged_same(const sp_merged_point *merged, uint32_t group,
                        const sp_store_point *point) {
  const sp_exemplar *known = &merged->exemplar;

  return merged->group == group &&
         memcmp(&known->profile, &point->profile, sizeof point->profile) == 0 &&
         known->span_id == point->span_id &&
         known->trace_id.hi == point->trace_id.hi &&
         known->trace_id.lo == point->trace_id.lo;
}

/* Remove from a point the labels that are not in `other`, the labels of another
 * series of the same profile. */
static spanprof_status merged_narrow(sp_merged_points *points,
                                     sp_merged_point *merged,
                                     const sp_text_pairs *other) {
  const sp_text_pairs *had = merged->exemplar.labels;
  size_t i, count = 0;

  if (!merged->own && had == other)
    return SPANPROF_OK;
  if (!merged->own) {
    merged->own =
        sp_arena_new(points->arena, had->count + 1, sizeof *merged->own);
    if (!merged->own)
      return points->arena->st;
    memcpy(merged->own, had->pairs, had->count * sizeof *merged->own);
    merged->labels = (sp_text_pairs){.pairs = merged->own, .count = had->count};
  }
  for (i = 0; i < merged->labels.count; i++) {
    const char *value = sp_text_pairs_find(other, merged->own[i].name);

    if (value && strcmp(value, merged->own[i].value) == 0)
      merged->own[count++] = merged->own[i];
  }
  merged->labels.count = count;
  return SPANPROF_OK;
}

static spanprof_status merged_new(sp_merged_points *points, uint64_t hash,
                                  uint32_t series,
                                  const sp_store_point *point) {
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
  points->points[points->count++] = (sp_merged_point){
      .exemplar = sp_exemplar_of(point, points->groups.seen[series].copy),
      .group = points->groups.seen[series].group};
  return SPANPROF_OK;
}

bool sp_merged_points_add(void *data, const sp_store_point *point) {
  sp_merged_points *points = data;
  uint32_t series, group, at, i;
  sp_merged_point *merged;
  uint64_t hash;

  points->st = sp_series_groups_find(&points->groups, point->labels, &series);
  if (points->st)
    return false;
  group = points->groups.seen[series].group;
  hash =
      sp_hash_mix(sp_hash_bytes(&point->profile, sizeof point->profile) ^ group,
                  point->span_id);
  i = sp_index_first(&points->index, hash, &at);
  while (i != SP_INDEX_NONE && !merged_same(&points->points[i], group, point))
    i = sp_index_next(&points->index, hash, &at);
  if (i == SP_INDEX_NONE) {
    points->st = merged_new(points, hash, series, point);
    return !points->st;
  }
  merged = &points->points[i];
  merged->exemplar.value = sp_sum(merged->exemplar.value, point->value);
  points->st = merged_narrow(points, merged, points->groups.seen[series].copy);
  return !points->st;
}

void sp_merged_points_finish(sp_merged_points *points) {
  size_t i;

  for (i = 0; i < points->count; i++)
    if (points->points[i].own)
      points->points[i].exemplar.labels = &points->points[i].labels;
}
