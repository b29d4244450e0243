/* Lists of applications, labels, label values and times with data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api_call.h"
#include "server/model/sum.h"
#include "server/query/selector/text_set.h"
#include "server/query/series/merged_points.h"

/* Largest gap between two profiles of one range if the first profile has no
 * duration. See gaps_put_stretches(). */
#define LISTS_GAP_MS 15000

/* A set of texts for each name: the types of an application, or the values of a
 * label. */
typedef struct lists_sets {
  sp_arena *arena;
  sp_text_set names;
  sp_text_set *sets; /* one for each name, in the order of `names` */
  size_t capacity;
  spanprof_status st;
} lists_sets;

static spanprof_status lists_add(lists_sets *lists, const char *name,
                                 const char *text) {
  const size_t before = lists->names.count;
  uint32_t number;
  spanprof_status st = sp_text_set_add(&lists->names, name, &number);

  if (!st)
    st = sp_mem_reserve(lists->arena->mem, (void **)&lists->sets,
                        &lists->capacity, lists->names.count,
                        sizeof *lists->sets);
  if (st)
    return st;
  if (number == before)
    sp_text_set_init(&lists->sets[number], lists->arena);
  return sp_text_set_add(&lists->sets[number], text, NULL);
}

static void lists_dispose(lists_sets *lists) {
  size_t i;

  for (i = 0; i < lists->names.count && i < lists->capacity; i++)
    sp_text_set_dispose(&lists->sets[i]);
  sp_mem_free(lists->arena->mem, lists->sets);
  sp_text_set_dispose(&lists->names);
}

static bool lists_application(void *data, const sp_text_pairs *labels) {
  lists_sets *lists = data;
  const char *name = sp_text_pairs_find(labels, "service_name");
  const char *type = sp_text_pairs_find(labels, "__profile_type__");

  if (name && type)
    lists->st = lists_add(lists, name, type);
  return !lists->st;
}

static bool lists_labels(void *data, const sp_text_pairs *labels) {
  lists_sets *lists = data;
  size_t i;

  for (i = 0; !lists->st && i < labels->count; i++)
    if (strncmp(labels->pairs[i].name, "__", 2) != 0)
      lists->st =
          lists_add(lists, labels->pairs[i].name, labels->pairs[i].value);
  return !lists->st;
}

static spanprof_status lists_run(sp_api *api, lists_sets *lists,
                                 sp_store_names names, sp_store_series_fn fn) {
  spanprof_status st;

  lists->arena = &api->query.arena;
  sp_text_set_init(&lists->names, lists->arena);
  st = sp_store_series(api->query.serve->store,
                       sp_query_plan_selector(&api->plan), names, fn, lists);
  return sp_query_plan_done(&api->plan, st ? st : lists->st);
}

spanprof_status sp_api_applications(sp_api *api) {
  static const char *const names[] = {"service_name", "__profile_type__"};
  lists_sets lists = {0};
  size_t i, j;
  spanprof_status st = sp_api_plan(api);

  if (st)
    return st;
  if (!sp_api_parameter(api, "type"))
    api->plan.selector.profile_type = NULL;
  st = lists_run(api, &lists, (sp_store_names){names, SP_COUNT_OF(names)},
                 lists_application);
  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "applications", '[');
  for (i = 0; !st && i < lists.names.count; i++) {
    sp_json_open(&api->json, '{');
    sp_json_member_text(&api->json, "name", lists.names.texts[i]);
    sp_json_member_open(&api->json, "types", '[');
    sp_text_set_sort(&lists.sets[i]);
    for (j = 0; j < lists.sets[i].count; j++)
      sp_json_text(&api->json, lists.sets[i].texts[j]);
    sp_json_close(&api->json, ']');
    sp_json_close(&api->json, '}');
  }
  sp_json_close(&api->json, ']');
  sp_json_close(&api->json, '}');
  lists_dispose(&lists);
  return st;
}

static spanprof_status labels_names(sp_api *api) {
  lists_sets lists = {0};
  size_t i;
  spanprof_status st =
      lists_run(api, &lists, (sp_store_names){0}, lists_labels);

  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "labels", '[');
  for (i = 0; !st && i < lists.names.count; i++) {
    sp_json_open(&api->json, '{');
    sp_json_member_text(&api->json, "name", lists.names.texts[i]);
    sp_json_member_int(&api->json, "values", (int64_t)lists.sets[i].count);
    sp_json_close(&api->json, '}');
  }
  sp_json_close(&api->json, ']');
  sp_json_close(&api->json, '}');
  lists_dispose(&lists);
  return st;
}

/* Statistics of the profiles of a label value. */
typedef struct labels_spread {
  int64_t profiles;
  double average;
  double squares;
} labels_spread;

static void labels_put(sp_api *api, const sp_series_group *group,
                       const labels_spread *spread, int64_t total) {
  sp_json_open(&api->json, '{');
  sp_json_key(&api->json, "value");
  if (group->labels.count)
    sp_json_text(&api->json, group->labels.pairs[0].value);
  else
    sp_json_null(&api->json);
  sp_json_member_int(&api->json, "total", group->total);
  sp_json_key(&api->json, "share");
  sp_json_double(&api->json, total ? (double)group->total / (double)total : 0);
  sp_json_member_int(&api->json, "profiles", spread->profiles);
  sp_json_key(&api->json, "average");
  sp_json_double(&api->json, spread->average);
  sp_json_key(&api->json, "deviation");
  sp_json_double(&api->json,
                 spread->profiles > 1
                     ? sqrt(spread->squares / (double)(spread->profiles - 1))
                     : 0);
  sp_json_close(&api->json, '}');
}

/* Welford's algorithm, which stays precise if the average is large:
 * https://en.wikipedia.org/wiki/Algorithms_for_calculating_variance */
static spanprof_status labels_spread_of(sp_merged_points *points,
                                        int64_t *total, labels_spread **out) {
  labels_spread *spreads =
      sp_arena_new(points->arena, points->groups.count + 1, sizeof *spreads);
  size_t i;

  if (!spreads)
    return points->arena->st;
  for (i = 0; i < points->count; i++) {
    const sp_merged_point *point = &points->points[i];
    const double value = (double)point->exemplar.value;
    labels_spread *spread = &spreads[point->group];
    sp_series_group *group = &points->groups.groups[point->group];
    const double before = value - spread->average;

    group->total = sp_sum(group->total, point->exemplar.value);
    *total = sp_sum(*total, point->exemplar.value);
    spread->profiles++;
    spread->average += before / (double)spread->profiles;
    spread->squares += before * (value - spread->average);
  }
  *out = spreads;
  return SPANPROF_OK;
}

static spanprof_status labels_values(sp_api *api, const char *label) {
  const sp_texts by = {.texts = &label, .count = 1};
  sp_merged_points points;
  labels_spread *spreads = NULL;
  uint32_t *order = NULL;
  int64_t total = 0;
  size_t i, limit, after;
  spanprof_status st = sp_api_page(api, &limit, &after);

  sp_merged_points_init(&points, &api->query.arena, &by);
  if (!st)
    st = sp_store_points(
        api->query.serve->store, sp_query_plan_selector(&api->plan),
        SP_STORE_POINT_PER_PROFILE, sp_merged_points_add, &points);
  st = sp_query_plan_done(&api->plan, st ? st : points.st);
  if (!st)
    st = labels_spread_of(&points, &total, &spreads);
  if (!st)
    st = sp_series_groups_sort(&points.groups, &order);
  sp_json_open(&api->json, '{');
  sp_json_member_text(&api->json, "label", label);
  sp_json_member_int(&api->json, "total", total);
  sp_json_member_open(&api->json, "values", '[');
  for (i = after; !st && i < points.groups.count && i - after < limit; i++)
    labels_put(api, &points.groups.groups[order[i]], &spreads[order[i]], total);
  sp_json_close(&api->json, ']');
  if (!st)
    sp_api_put_after(api, i, points.groups.count);
  sp_json_close(&api->json, '}');
  sp_merged_points_dispose(&points);
  return st;
}

spanprof_status sp_api_labels(sp_api *api) {
  const char *label = sp_api_parameter(api, "label");
  spanprof_status st = sp_api_plan(api);

  if (st)
    return st;
  return label ? labels_values(api, label) : labels_names(api);
}

/* The time range of a profile. */
typedef struct gaps_time {
  int64_t from_ms;
  int64_t until_ms;
  sp_profile_uuid profile;
} gaps_time;

typedef struct gaps_gathering {
  const sp_mem *mem;
  gaps_time *times;
  size_t count;
  size_t capacity;
  /* The requested range, from from_ms to until_ms. With `nearest`, before_ms
   * becomes the start of the last profile before the range, and after_ms the
   * start of the first profile after it. */
  int64_t from_ms;
  int64_t until_ms;
  int64_t before_ms;
  int64_t after_ms;
  bool nearest;
  spanprof_status st;
} gaps_gathering;

static bool gaps_gather(void *data, const sp_store_point *point) {
  gaps_gathering *gaps = data;
  const int64_t from = point->time_ns / 1000000;
  const int64_t length = point->duration_ns / 1000000;

  if (gaps->nearest) {
    if (from < gaps->from_ms && from > gaps->before_ms)
      gaps->before_ms = from;
    if (from > gaps->until_ms && from < gaps->after_ms)
      gaps->after_ms = from;
    return true;
  }
  /* A profile has one point for each of its series. These points are
   * consecutive, and only the first one counts. */
  if (gaps->count && memcmp(&gaps->times[gaps->count - 1].profile,
                            &point->profile, sizeof point->profile) == 0)
    return true;
  if (gaps->count >= SP_QUERY_MEMORY_MAX / sizeof *gaps->times)
    gaps->st = SPANPROF_ERR_LIMIT;
  if (!gaps->st)
    gaps->st = sp_mem_reserve(gaps->mem, (void **)&gaps->times, &gaps->capacity,
                              gaps->count + 1, sizeof *gaps->times);
  if (!gaps->st)
    gaps->times[gaps->count++] = (gaps_time){
        .from_ms = from, .until_ms = from + length, .profile = point->profile};
  return !gaps->st;
}

static int gaps_order(const void *a, const void *b) {
  const gaps_time *left = a, *right = b;

  if (left->from_ms != right->from_ms)
    return left->from_ms < right->from_ms ? -1 : 1;
  if (left->until_ms != right->until_ms)
    return left->until_ms < right->until_ms ? -1 : 1;
  return memcmp(&left->profile, &right->profile, sizeof left->profile);
}

/* Write the ranges without gaps. Two profiles belong to the same range if the
 * gap between them is at most half of the duration of the first, because a
 * profile normally lasts as long as its client's upload interval. */
static void gaps_put_stretches(sp_api *api, const gaps_gathering *gaps) {
  size_t i, first = 0;
  int64_t end = 0, profiles = 0;

  sp_json_member_open(&api->json, "ranges", '[');
  for (i = 0; i < gaps->count; i++) {
    const gaps_time *time = &gaps->times[i];
    const int64_t length = time->until_ms - time->from_ms;

    profiles++;
    end = i == first || time->until_ms > end ? time->until_ms : end;
    if (i + 1 < gaps->count &&
        gaps->times[i + 1].from_ms <=
            end + (length > 0 ? length / 2 : LISTS_GAP_MS))
      continue;
    sp_json_open(&api->json, '{');
    sp_json_member_int(&api->json, "from", gaps->times[first].from_ms);
    sp_json_member_int(&api->json, "until", end);
    sp_json_member_int(&api->json, "profiles", profiles);
    sp_json_close(&api->json, '}');
    first = i + 1;
    profiles = 0;
  }
  sp_json_close(&api->json, ']');
}

static void gaps_put_time(sp_api *api, const char *name, int64_t ms,
                          bool known) {
  sp_json_key(&api->json, name);
  if (known)
    sp_json_int(&api->json, ms);
  else
    sp_json_null(&api->json);
}

spanprof_status sp_api_gaps(sp_api *api) {
  gaps_gathering gaps = {
      .mem = api->query.mem, .before_ms = INT64_MIN, .after_ms = INT64_MAX};
  sp_selector *selector = &api->plan.selector;
  spanprof_status st = sp_api_plan(api);

  if (!st)
    st = sp_api_plan_trace_spans(&api->plan);
  if (st)
    return st;
  st = sp_store_points(api->query.serve->store,
                       sp_query_plan_selector(&api->plan),
                       SP_STORE_POINT_PER_PROFILE, gaps_gather, &gaps);
  st = sp_query_plan_done(&api->plan, st ? st : gaps.st);
  if (!st && gaps.count == 0) {
    gaps.nearest = true;
    gaps.from_ms = selector->from_ms;
    gaps.until_ms = selector->until_ms;
    selector->from_ms = INT64_MIN;
    selector->until_ms = INT64_MAX;
    st = sp_store_points(api->query.serve->store,
                         sp_query_plan_selector(&api->plan),
                         SP_STORE_POINT_PER_PROFILE, gaps_gather, &gaps);
    st = sp_query_plan_done(&api->plan, st);
  }
  if (!st && gaps.count)
    qsort(gaps.times, gaps.count, sizeof *gaps.times, gaps_order);
  sp_json_open(&api->json, '{');
  gaps_put_stretches(api, &gaps);
  gaps_put_time(api, "before", gaps.before_ms, gaps.before_ms != INT64_MIN);
  gaps_put_time(api, "after", gaps.after_ms, gaps.after_ms != INT64_MAX);
  sp_json_close(&api->json, '}');
  sp_mem_free(gaps.mem, gaps.times);
  return st;
}

/* Write the build information in the format of Prometheus and Pyroscope. */
spanprof_status sp_api_build(sp_api *api) {
  sp_json_open(&api->json, '{');
  sp_json_member_text(&api->json, "status", "success");
  sp_json_member_open(&api->json, "data", '{');
  sp_json_member_text(&api->json, "application", "spanprof");
  sp_json_member_text(&api->json, "version", spanprof_version());
  sp_json_close(&api->json, '}');
  sp_json_close(&api->json, '}');
  return SPANPROF_OK;
}
