#include <string.h>

#include "query_calls.h"
#include "server/model/sum.h"
#include "server/query/series/merged_points.h"

#define HEATMAP_ROWS 20

/* All points are stored until the last one is read, because the ranges of the
 * rows depend on the smallest and the largest value. */
typedef struct heatmap {
  sp_query *query;
  sp_series_steps steps;
  sp_merged_points points;
  sp_series_cells cells;
  bool of_spans;
  int64_t smallest;
  double row_height;
} heatmap;

static bool heatmap_gather(void *data, const sp_store_point *point) {
  heatmap *map = data;

  if (map->of_spans && point->span_id == 0)
    return true;
  return sp_merged_points_add(&map->points, point);
}

/* Returns the smallest value of a row, rounded down. */
static int64_t heatmap_row_start(const heatmap *map, int64_t row) {
  return map->smallest + (int64_t)((double)row * map->row_height);
}

static uint32_t heatmap_row(const heatmap *map, int64_t value) {
  uint32_t row = HEATMAP_ROWS - 1;

  while (row > 0 && value < heatmap_row_start(map, row))
    row--;
  return row;
}

static spanprof_status heatmap_count(heatmap *map) {
  const sp_merged_point *points = map->points.points;
  int64_t largest = INT64_MIN, step;
  size_t i;
  spanprof_status st = SPANPROF_OK;

  map->smallest = INT64_MAX;
  for (i = 0; i < map->points.count; i++) {
    const int64_t value = points[i].exemplar.value;

    map->smallest = value < map->smallest ? value : map->smallest;
    largest = value > largest ? value : largest;
  }
  if (largest == map->smallest)
    largest = sp_sum(largest, 1);
  map->row_height = ((double)largest - (double)map->smallest) / HEATMAP_ROWS;
  for (i = 0; !st && i < map->points.count; i++) {
    const sp_exemplar *point = &points[i].exemplar;

    /* A time after the last step belongs to the last step. */
    step = sp_series_step(&map->steps, point->time_ms);
    st = sp_series_cells_add(&map->cells, points[i].group,
                             step < 0 ? map->steps.last : step,
                             heatmap_row(map, point->value), point);
    map->points.groups.groups[points[i].group].total++;
  }
  sp_series_cells_sort(&map->cells);
  return st;
}

/* Write one column: the cells of one group and step, which are those from
 * `cell` to `end`. */
static void heatmap_put_slot(sp_reply *reply, const heatmap *map,
                             const sp_series_cell *cell,
                             const sp_series_cell *end, bool exemplars) {
  double starts[HEATMAP_ROWS];
  int32_t counts[HEATMAP_ROWS] = {0};
  const sp_series_cell *at;
  uint32_t row;

  for (row = 0; row < HEATMAP_ROWS; row++)
    starts[row] = (double)heatmap_row_start(map, row);
  for (at = cell; at < end; at++)
    counts[at->row] = at->count;
  sp_reply_item(reply, 2);
  sp_reply_int(reply, 1, "timestamp",
               map->steps.start_ms + cell->step * map->steps.step_ms);
  sp_reply_doubles(reply, 2, "yMin", starts, HEATMAP_ROWS);
  sp_reply_int32s(reply, 3, "counts", counts, HEATMAP_ROWS);
  if (exemplars) {
    sp_reply_list(reply, "exemplars");
    for (at = cell; at < end; at++)
      sp_exemplar_put(reply, &at->exemplar, map->of_spans);
    sp_reply_list_end(reply);
  }
  sp_reply_close(reply);
}

static void heatmap_put_group(sp_reply *reply, const heatmap *map,
                              uint32_t group, bool exemplars) {
  const sp_series_cell *end, *next,
      *cell = sp_series_cells_of(&map->cells, group, &end);

  sp_reply_item(reply, 1);
  sp_series_put_labels(reply, 1, &map->points.groups.groups[group].labels);
  sp_reply_list(reply, "slots");
  for (; cell < end; cell = next) {
    next = cell;
    while (next < end && next->step == cell->step)
      next++;
    heatmap_put_slot(reply, map, cell, next, exemplars);
  }
  sp_reply_list_end(reply);
  sp_reply_close(reply);
}

/* Write the groups. If the request has a limit, only those with the most
 * points. */
static spanprof_status heatmap_put(sp_reply *reply, const heatmap *map,
                                   int64_t limit, bool exemplars) {
  size_t i, count = map->points.groups.count;
  uint32_t *order;
  spanprof_status st = sp_series_groups_sort(&map->points.groups, &order);

  if (st)
    return st;
  if (limit > 0 && (uint64_t)limit < count)
    count = (size_t)limit;
  sp_reply_list(reply, "series");
  for (i = 0; i < count; i++)
    heatmap_put_group(reply, map, order[i], exemplars);
  sp_reply_list_end(reply);
  return SPANPROF_OK;
}

/* Make the plan. The parameters are checked in the same order as in
 * Pyroscope. */
static spanprof_status heatmap_plan(sp_query_plan *plan,
                                    const sp_query_request *request) {
  sp_query *query = plan->query;
  spanprof_status st;

  if (!(request->step_s >= 0.001))
    return sp_query_invalid(query, "step must be >= 1ms, got %f",
                            request->step_s);
  if (request->limit < 0)
    return sp_query_invalid(query, "limit must be non-negative, got %lld",
                            (long long)request->limit);
  if (request->start_ms >= request->end_ms)
    return sp_query_invalid(query,
                            "start time must be before end time, got "
                            "start=%lld end=%lld",
                            (long long)request->start_ms,
                            (long long)request->end_ms);
  st = sp_query_plan_request(plan, request);
  if (!st && request->heatmap_of != SP_HEATMAP_INDIVIDUAL &&
      request->heatmap_of != SP_HEATMAP_SPAN)
    st = sp_query_invalid(query, "valid heatmap query type must be specified");
  return st;
}

spanprof_status sp_call_heatmap(sp_query *query,
                                const sp_query_request *request,
                                sp_reply *reply) {
  heatmap map = {.query = query,
                 .of_spans = request->heatmap_of == SP_HEATMAP_SPAN};
  const int64_t exemplar_type =
      map.of_spans ? SP_EXEMPLARS_SPAN : SP_EXEMPLARS_INDIVIDUAL;
  sp_query_plan plan;
  spanprof_status st;

  sp_query_plan_init(&plan, query);
  sp_merged_points_init(&map.points, &query->arena, &request->group_by);
  sp_series_cells_init(&map.cells, query->mem, SP_QUERY_MEMORY_MAX);
  st = heatmap_plan(&plan, request);
  if (!st) {
    map.steps =
        sp_series_steps_of(request->start_ms, request->end_ms, request->step_s);
    st = sp_store_points(query->serve->store, sp_query_plan_selector(&plan),
                         map.of_spans ? SP_STORE_POINT_PER_SPAN
                                      : SP_STORE_POINT_PER_PROFILE,
                         heatmap_gather, &map);
    st = sp_query_plan_done(&plan, st ? st : map.points.st);
  }
  if (!st && map.points.count > 0) {
    sp_merged_points_finish(&map.points);
    st = heatmap_count(&map);
    if (!st)
      st = heatmap_put(reply, &map, request->limit,
                       request->exemplars == exemplar_type);
  }
  sp_series_cells_dispose(&map.cells);
  sp_merged_points_dispose(&map.points);
  sp_query_plan_dispose(&plan);
  return st;
}
