#include "query_calls.h"
#include "server/query/series/series_query.h"

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
