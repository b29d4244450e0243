#include "render_query.h"

#include <string.h>

#include "series_query.h"
#include "server/query/wire/json_writer.h"
#include "settings/unix_time.h"

#define RENDER_POINTS 1500

/* Most points of a timeline. In steps of a week, they cover all Unix times of
 * at most ten digits. */
#define RENDER_POINTS_MAX 20000

/* Returns the time of a parameter in ms. A text that is not a time counts as
 * now, as in Pyroscope. */
static int64_t render_time(const sp_query *query, const char *parameter) {
  const char *text = sp_http_query(query->http, parameter);
  int64_t time_ns = (int64_t)sp_clock_unix_ns(query->serve->clock);

  if (text)
    (void)sp_unix_time_parse(text, time_ns, NULL, &time_ns);
  return time_ns / (int64_t)SP_NS_PER_MS;
}

/* Take the profile type from the matcher of __name__, or else from
 * `classic_type`. */
static spanprof_status render_use_type(sp_query_plan *plan,
                                       const char *parameter,
                                       const char *classic_type) {
  const sp_matcher *name = sp_matcher_list_find(&plan->matchers, "__name__");
  spanprof_status st;

  if (!name && classic_type)
    return sp_query_plan_type(plan, classic_type);
  if (!name)
    return sp_query_invalid(
        plan->query, "\"%s\" must contain a profile-type selection", parameter);
  if (!sp_profile_type_valid(name->value))
    return sp_query_invalid(plan->query, "failed to parse \"%s\"", parameter);
  st = sp_query_plan_type(plan, name->value);
  sp_matcher_list_remove(&plan->matchers, name);
  return st;
}

spanprof_status sp_render_plan(sp_query_plan *plan, const char *parameter,
                               const char *from, const char *until) {
  sp_query *query = plan->query;
  const char *text = sp_http_query(query->http, parameter), *type;
  spanprof_status st;

  if (!text || !*text)
    return sp_query_invalid(query, "\"%s\" is required", parameter);
  st = sp_label_query_parse(&plan->matchers, text, &type, &query->fault);
  if (st == SPANPROF_ERR_ARGUMENT)
    sp_query_fault_prefix(&query->fault, "failed to parse \"%s\": ", parameter);
  if (!st)
    st = render_use_type(plan, parameter, type);
  if (!st)
    st = sp_query_plan_range(plan, render_time(query, from),
                             render_time(query, until));
  return st;
}

spanprof_status sp_render_type(const sp_query_plan *plan, const char **type,
                               const char **unit) {
  const char *profile_type = plan->selector.profile_type;
  const char *type_start = strchr(profile_type, ':') + 1;
  const char *unit_start = strchr(type_start, ':') + 1;
  sp_arena *arena = &plan->query->arena;

  *type =
      sp_arena_text(arena, type_start, (size_t)(unit_start - 1 - type_start));
  *unit = sp_arena_text(arena, unit_start, strcspn(unit_start, ":"));
  return *type && *unit ? SPANPROF_OK : arena->st;
}

/* Returns the length of a timeline's steps: the shortest of the lengths below
 * that gives at most RENDER_POINTS steps, or a week. */
static int64_t render_step_s(int64_t range_ms) {
  static const int64_t lengths[] = {15,    20,    30,    60,    120,   300,
                                    600,   900,   1200,  1800,  3600,  7200,
                                    10800, 21600, 43200, 86400, 604800};
  size_t i;

  for (i = 0; i + 1 < SP_COUNT_OF(lengths); i++)
    if (lengths[i] * RENDER_POINTS * 1000 >= range_ms)
      break;
  return lengths[i];
}

static void timeline_put(sp_json *json, const sp_series_steps *steps,
                         const int64_t *values) {
  int64_t i;

  sp_json_open(json, '{');
  sp_json_member_int(json, "startTime", steps->start_ms / 1000);
  sp_json_member_open(json, "samples", '[');
  for (i = 0; i < steps->last; i++)
    sp_json_int(json, values[i]);
  sp_json_close(json, ']');
  sp_json_member_int(json, "durationDelta", steps->step_ms / 1000);
  sp_json_key(json, "watermarks");
  sp_json_null(json);
  sp_json_close(json, '}');
}

/* Sum the values of one group, or of all groups, for each step. */
static void timeline_sum(const sp_series_query *series, bool all,
                         uint32_t group, int64_t *values) {
  size_t i;

  memset(values, 0, (size_t)(series->steps.last + 1) * sizeof *values);
  for (i = 0; i < series->cells.count; i++) {
    const sp_series_cell *cell = &series->cells.cells[i];

    if (all || cell->group == group)
      values[cell->step] += cell->value;
  }
}

static spanprof_status timeline_write(const sp_series_query *series,
                                      bool grouped, bool empty,
                                      sp_buffer *out) {
  sp_arena *arena = series->points.arena;
  int64_t *values =
      sp_arena_new(arena, (size_t)series->steps.last + 1, sizeof *values);
  sp_json json = sp_json_of(out);
  uint32_t i;

  if (!values)
    return arena->st;
  if (!grouped) {
    if (!empty)
      timeline_sum(series, true, 0, values);
    timeline_put(&json, &series->steps, values);
    return sp_buffer_status(out);
  }
  sp_json_open(&json, '{');
  for (i = 0; i < series->points.groups.count && !out->failed; i++) {
    const sp_text_pairs *labels = &series->points.groups.groups[i].labels;

    sp_json_key(&json, labels->count ? labels->pairs[0].value : "");
    timeline_sum(series, false, i, values);
    timeline_put(&json, &series->steps, values);
  }
  sp_json_close(&json, '}');
  return sp_buffer_status(out);
}

spanprof_status sp_render_timeline(sp_query_plan *plan, const char *group_by,
                                   bool empty, sp_buffer *out) {
  const sp_selector before = plan->selector;
  const int64_t step_ms =
      render_step_s(before.until_ms - before.from_ms) * 1000;
  const sp_texts by = {.texts = &group_by, .count = group_by ? 1 : 0};
  sp_series_steps steps = {.start_ms = before.from_ms / step_ms * step_ms,
                           .step_ms = step_ms};
  sp_series_query series;
  spanprof_status st;

  steps.last = (before.until_ms / step_ms * step_ms - steps.start_ms) / step_ms;
  if (steps.last >= RENDER_POINTS_MAX)
    return sp_query_invalid(plan->query,
                            "the range is too long: a timeline has at most %d "
                            "weeks",
                            RENDER_POINTS_MAX);
  out->size_max = SP_HTTP_BODY_MAX;
  st = sp_series_query_run(&series, plan, &steps, &by);
  if (!st)
    st = timeline_write(&series, group_by != NULL, empty, out);
  sp_series_query_dispose(&series);
  plan->selector.from_ms = before.from_ms;
  plan->selector.until_ms = before.until_ms;
  return st;
}
