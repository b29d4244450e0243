#include <string.h>

#include "name_tree.h"
#include "query_calls.h"
#include "series_query.h"

static spanprof_status series_sum(sp_series_query *series) {
  sp_series_groups *groups = &series->points.groups;
  size_t i;
  spanprof_status st = SPANPROF_OK;

  for (i = 0; !st && i < series->points.count; i++) {
    const sp_whole_point *point = &series->points.points[i];
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
  sp_whole_points_init(&out->points, &query->arena, group_by);
  sp_series_cells_init(&out->cells, query->mem, SP_QUERY_MEMORY_MAX);
  plan->selector.from_ms = steps->start_ms - steps->step_ms;
  plan->selector.until_ms = steps->start_ms + steps->last * steps->step_ms;
  st = sp_store_points(query->serve->store, sp_query_plan_selector(plan),
                       SP_STORE_POINT_PER_PROFILE, sp_whole_points_add,
                       &out->points);
  st = sp_query_plan_done(plan, st ? st : out->points.st);
  if (st)
    return st;
  sp_whole_points_finish(&out->points);
  return series_sum(out);
}

void sp_series_query_dispose(sp_series_query *series) {
  sp_series_cells_dispose(&series->cells);
  sp_whole_points_dispose(&series->points);
}

static void series_put(sp_reply *reply, const sp_series_query *series,
                       uint32_t group, bool exemplars) {
  const sp_series_cell *end,
      *cell = sp_series_cells_of(&series->cells, group, &end);

  sp_reply_item(reply, 1);
  sp_series_put_labels(reply, 1, &series->points.groups.groups[group].labels);
  if (cell < end)
    sp_reply_list(reply, "points");
  for (; cell < end; cell++) {
    sp_reply_item(reply, 2);
    sp_reply_double(reply, 1, "value", (double)cell->value);
    sp_reply_int(reply, 2, "timestamp",
                 series->steps.start_ms + cell->step * series->steps.step_ms);
    if (exemplars) {
      sp_reply_list(reply, "exemplars");
      sp_exemplar_put(reply, &cell->exemplar, false);
      sp_reply_list_end(reply);
    }
    sp_reply_close(reply);
    if (cell + 1 == end)
      sp_reply_list_end(reply);
  }
  sp_reply_close(reply);
}

spanprof_status sp_call_select_series(sp_query *query,
                                      const sp_query_request *request,
                                      sp_reply *reply) {
  sp_query_plan plan;
  sp_series_query series = {0};
  sp_series_steps steps;
  uint32_t *order;
  size_t i, count;
  spanprof_status st;

  sp_query_plan_init(&plan, query);
  st = sp_query_plan_request(&plan, request);
  if (!st && !(request->step_s >= 0.001))
    st = sp_query_invalid(query, "step must be >= 1ms");
  if (!st && request->exemplars == SP_EXEMPLARS_SPAN)
    st = sp_query_refuse(&query->fault, SP_CODE_UNIMPLEMENTED,
                         "exemplar type span is not implemented");
  if (!st) {
    steps =
        sp_series_steps_of(request->start_ms, request->end_ms, request->step_s);
    st = sp_series_query_run(&series, &plan, &steps, &request->group_by);
  }
  if (!st)
    st = sp_series_groups_sort(&series.points.groups, &order);
  if (!st && series.points.groups.count > 0) {
    count = series.points.groups.count;
    if (request->limit > 0 && (uint64_t)request->limit < count)
      count = (size_t)request->limit;
    sp_reply_list(reply, "series");
    for (i = 0; i < count; i++)
      series_put(reply, &series, order[i],
                 request->exemplars == SP_EXEMPLARS_INDIVIDUAL);
    sp_reply_list_end(reply);
  }
  sp_series_query_dispose(&series);
  sp_query_plan_dispose(&plan);
  return st;
}
