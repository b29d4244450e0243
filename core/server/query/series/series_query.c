#include "series_query.h"

#include <string.h>

#include "server/model/sum.h"

static spanprof_status series_sum(sp_series_query *series) {
  sp_series_groups *groups = &series->points.groups;
  size_t i;
  spanprof_status st = SPANPROF_OK;

  for (i = 0; !st && i < series->points.count; i++) {
    const sp_merged_point *point = &series->points.points[i];
    const int64_t step =
        sp_series_step(&series->steps, point->exemplar.time_ms);
    sp_series_group *group = &groups->groups[point->group];

    if (step < 0)
      continue;
    group->total = sp_sum(group->total, point->exemplar.value);
    st = sp_series_cells_add(&series->cells, point->group, step, 0,
                             &point->exemplar);
  }
  sp_series_cells_sort(&series->cells);
  return st;
}

spanprof_status sp_series_query_run(sp_series_query *out, sp_query_plan *plan,
                                    const sp_series_steps *steps,
                                    const sp_texts *group_by) {
  sp_query *query = plan->query;
  spanprof_status st;

  memset(out, 0, sizeof *out);
  out->steps = *steps;
  sp_merged_points_init(&out->points, &query->arena, group_by);
  sp_series_cells_init(&out->cells, query->mem, SP_QUERY_MEMORY_MAX);
  plan->selector.from_ms = steps->start_ms - steps->step_ms;
  plan->selector.until_ms = steps->start_ms + steps->last * steps->step_ms;
  st = sp_store_points(query->serve->store, sp_query_plan_selector(plan),
                       SP_STORE_POINT_PER_PROFILE, sp_merged_points_add,
                       &out->points);
  st = sp_query_plan_done(plan, st ? st : out->points.st);
  if (st)
    return st;
  sp_merged_points_finish(&out->points);
  return series_sum(out);
}

void sp_series_query_dispose(sp_series_query *series) {
  sp_series_cells_dispose(&series->cells);
  sp_merged_points_dispose(&series->points);
}
