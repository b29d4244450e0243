/* Values over time, for a timeline. A profile's value is spread over the time
 * that the profile covers. The response distinguishes steps that no profile
 * covers from steps with the value 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api_call.h"
#include "server/model/sum.h"
#include "server/query/series/render_query.h"

/* Default limit for the steps of a timeline: about its width in pixels. */
#define SERIES_STEPS     500
#define SERIES_STEPS_MAX 10000

/* A limit of 31,000 years, so that the end of the last step fits 64 bits. */
#define SERIES_STEP_MAX_MS INT64_C(1000000000000000)

/* Assumed duration of profiles that have none: the usual upload interval of
 * agents. */
#define SERIES_PROFILE_MS 15000

/* Limit of a profile's duration, so that the product of two durations fits 64
 * bits. */
#define SERIES_PROFILE_MAX_MS INT64_C(3000000000)

typedef struct series_stretch {
  int64_t from_ms;
  int64_t until_ms;
} series_stretch;

typedef struct series_sums {
  const sp_mem *mem;
  bool level;      /* values are levels at a time, not sums over time */
  int64_t from_ms; /* the requested range */
  int64_t until_ms;
  int64_t start_ms;
  int64_t step_ms;
  int64_t steps;
  int64_t *values;
  int64_t *covered_ms;
  series_stretch *stretches; /* the time ranges of the profiles */
  size_t count;
  size_t capacity;
  spanprof_status st;
} series_sums;

/* Returns the part of a value for the first `ms` of the `length_ms` that the
 * value covers. The value of any section of this time is the difference of two
 * such parts, so all sections add up to `value` exactly. */
static int64_t series_part(int64_t value, int64_t ms, int64_t length_ms) {
  return value / length_ms * ms + value % length_ms * ms / length_ms;
}

static int64_t series_clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static void series_spread(series_sums *sums, const series_stretch *stretch,
                          int64_t value) {
  const int64_t length = stretch->until_ms - stretch->from_ms;
  const int64_t end = sums->start_ms + sums->steps * sums->step_ms;
  int64_t from = series_clamp(stretch->from_ms, sums->start_ms, end);
  const int64_t until = series_clamp(stretch->until_ms, sums->start_ms, end);

  while (from < until) {
    const int64_t step = (from - sums->start_ms) / sums->step_ms;
    const int64_t next = sums->start_ms + (step + 1) * sums->step_ms;
    const int64_t to = next < until ? next : until;
    int64_t *sum = &sums->values[step];

    if (sums->level)
      *sum = sp_sum(*sum, series_part(value, to - from, sums->step_ms));
    else
      *sum =
          sp_sum(*sum, series_part(value, to - stretch->from_ms, length) -
                           series_part(value, from - stretch->from_ms, length));
    from = to;
  }
}

static bool series_add(void *data, const sp_store_point *point) {
  series_sums *sums = data;
  const int64_t duration_ms = point->duration_ns / (int64_t)SP_NS_PER_MS;
  const int64_t length_ms =
      series_clamp(duration_ms > 0 ? duration_ms : SERIES_PROFILE_MS, 1,
                   SERIES_PROFILE_MAX_MS);
  const int64_t from_ms = point->time_ns / (int64_t)SP_NS_PER_MS;
  const series_stretch stretch = {from_ms, from_ms + length_ms};

  series_spread(sums, &stretch, point->value);
  /* A profile has one point for each of its series. These points are
   * consecutive, and their common time range is stored once. */
  if (sums->count > 0 &&
      memcmp(&sums->stretches[sums->count - 1], &stretch, sizeof stretch) == 0)
    return true;
  if (sums->count >= SP_QUERY_MEMORY_MAX / sizeof *sums->stretches)
    sums->st = SPANPROF_ERR_LIMIT;
  if (!sums->st)
    sums->st =
        sp_mem_reserve(sums->mem, (void **)&sums->stretches, &sums->capacity,
                       sums->count + 1, sizeof *sums->stretches);
  if (!sums->st)
    sums->stretches[sums->count++] = stretch;
  return !sums->st;
}

static int series_order(const void *a, const void *b) {
  const series_stretch *left = a, *right = b;

  return (left->from_ms > right->from_ms) - (left->from_ms < right->from_ms);
}

/* Compute how much of each step is covered by at least one profile. */
static void series_cover(series_sums *sums) {
  const int64_t end_ms = sums->start_ms + sums->steps * sums->step_ms;
  int64_t done_ms = sums->start_ms;
  size_t i;

  if (sums->count)
    qsort(sums->stretches, sums->count, sizeof *sums->stretches, series_order);
  for (i = 0; i < sums->count; i++) {
    int64_t from_ms = series_clamp(sums->stretches[i].from_ms, done_ms, end_ms);
    const int64_t until_ms =
        series_clamp(sums->stretches[i].until_ms, done_ms, end_ms);

    done_ms = until_ms;
    while (from_ms < until_ms) {
      const int64_t step = (from_ms - sums->start_ms) / sums->step_ms;
      const int64_t next_ms = sums->start_ms + (step + 1) * sums->step_ms;
      const int64_t to_ms = next_ms < until_ms ? next_ms : until_ms;

      sums->covered_ms[step] += to_ms - from_ms;
      from_ms = to_ms;
    }
  }
}

/* Returns the shortest of the lengths below, or of whole numbers of days, that
 * divides the range into at most SERIES_STEPS steps. */
static int64_t series_step_of(int64_t range_ms) {
  static const int64_t lengths_s[] = {1,    2,    5,     10,    15,   30,
                                      60,   120,  300,   600,   900,  1800,
                                      3600, 7200, 21600, 43200, 86400};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(lengths_s); i++)
    if (lengths_s[i] * 1000 >= range_ms / SERIES_STEPS)
      return lengths_s[i] * 1000;
  return (range_ms / SERIES_STEPS / 86400000 + 1) * 86400000;
}

/* Set the steps. Steps begin at multiples of their length, so that they stay
 * the same when the range moves. */
static spanprof_status series_grid(sp_api *api, series_sums *sums) {
  const sp_selector *selector = &api->plan.selector;
  const int64_t range_ms = selector->until_ms - selector->from_ms;
  spanprof_status st =
      sp_api_number(api, "step", series_step_of(range_ms), &sums->step_ms);

  if (!st && (sums->step_ms == 0 || sums->step_ms > SERIES_STEP_MAX_MS))
    st = sp_query_invalid(&api->query,
                          "step must be from 1 to %" PRId64 " milliseconds",
                          SERIES_STEP_MAX_MS);
  if (!st && range_ms / sums->step_ms >= SERIES_STEPS_MAX)
    st = sp_query_invalid(
        &api->query,
        "step is too short: the range would have more than %d steps",
        SERIES_STEPS_MAX);
  if (st)
    return st;
  sums->from_ms = selector->from_ms;
  sums->until_ms = selector->until_ms;
  sums->start_ms = selector->from_ms - selector->from_ms % sums->step_ms;
  if (sums->start_ms > selector->from_ms) /* before 1970 */
    sums->start_ms -= sums->step_ms;
  sums->steps = (selector->until_ms - sums->start_ms) / sums->step_ms + 1;
  sums->values = sp_arena_new(&api->query.arena, (size_t)sums->steps * 2,
                              sizeof *sums->values);
  sums->covered_ms = sums->values ? sums->values + sums->steps : NULL;
  return sums->values ? SPANPROF_OK : api->query.arena.st;
}

/* Returns whether a type's values are levels, such as memory in use, and not
 * sums. */
static bool series_is_level(const char *type) {
  return strncmp(type, "inuse_", 6) == 0 || strncmp(type, "goroutine", 9) == 0;
}

static void series_put_numbers(sp_api *api, const char *name,
                               const int64_t *numbers, int64_t count) {
  int64_t i;

  sp_json_member_open(&api->json, name, '[');
  for (i = 0; i < count; i++)
    sp_json_int(&api->json, numbers[i]);
  sp_json_close(&api->json, ']');
}

static void series_put(sp_api *api, const series_sums *sums, const char *unit) {
  sp_json_open(&api->json, '{');
  sp_json_member_text(&api->json, "type", api->plan.selector.profile_type);
  sp_json_member_text(&api->json, "unit", unit);
  sp_json_member_text(&api->json, "kind", sums->level ? "level" : "sum");
  sp_json_member_int(&api->json, "from", sums->from_ms);
  sp_json_member_int(&api->json, "until", sums->until_ms);
  sp_json_member_int(&api->json, "start", sums->start_ms);
  sp_json_member_int(&api->json, "step", sums->step_ms);
  series_put_numbers(api, "values", sums->values, sums->steps);
  series_put_numbers(api, "covered", sums->covered_ms, sums->steps);
  sp_json_close(&api->json, '}');
}

spanprof_status sp_api_series(sp_api *api) {
  series_sums sums = {.mem = api->query.mem};
  const char *type, *unit;
  spanprof_status st = sp_api_plan(api);

  if (!st)
    st = sp_api_plan_trace_spans(&api->plan);
  if (!st)
    st = series_grid(api, &sums);
  if (!st)
    st = sp_render_type(&api->plan, &type, &unit);
  if (st)
    return st;
  sums.level = series_is_level(type);
  st = sp_store_points(api->query.serve->store,
                       sp_query_plan_selector(&api->plan),
                       SP_STORE_POINT_PER_PROFILE, series_add, &sums);
  st = sp_query_plan_done(&api->plan, st ? st : sums.st);
  if (!st) {
    series_cover(&sums);
    series_put(api, &sums, unit);
  }
  sp_mem_free(sums.mem, sums.stretches);
  return st;
}
