/* Format: the flame graph of Pyroscope's API. A row has four numbers for each
 * box: the gap to the box on its left, its total, its self value and the number
 * of its name. A comparison has gap, total and self for both sides, and then
 * the name. */
#include <ctype.h>
#include <math.h>

#include "foreign_json.h"

#define BEARER_NS_PER_S 1e9

/* With a higher sample rate, values are times, and not numbers of samples. */
#define BEARER_RATE_MAX 1e6

enum { BEARER_BEFORE, BEARER_AFTER, BEARER_SIDES };

/* A box of a row, and its range on the axis, which both sides share. */
typedef struct bearer_box {
  double end;
  uint32_t node;
} bearer_box;

typedef struct bearer_reading {
  sp_foreign *foreign;
  const sp_json_node *names;
  uint32_t *functions; /* the number of each name's function, plus 1 */
  size_t sides;        /* 1 or 2 */
  uint32_t types[BEARER_SIDES];
  double scale;
  bool counts; /* values are numbers of samples */
  bearer_box *above;
  size_t above_count;
} bearer_reading;

static bool bearer_is(const sp_json_node *root) {
  const sp_json_node *bearer = sp_json_member(root, "flamebearer");

  return sp_json_member(bearer, "levels")->kind == SP_JSON_LIST &&
         sp_json_member(bearer, "names")->kind == SP_JSON_LIST;
}

/* Returns whether the member `name` of the metadata is the name of a type. In
 * some files it is a query or the name of a file. */
static bool bearer_is_type(sp_view name) {
  size_t i;

  for (i = 0; i < name.size; i++)
    if (!isalnum((unsigned char)name.bytes[i]) && name.bytes[i] != '_')
      return false;
  return name.size > 0;
}

static spanprof_status bearer_types(bearer_reading *reading,
                                    const sp_json_node *metadata) {
  const sp_view units = sp_json_view(sp_json_member(metadata, "units"));
  const double rate = sp_json_number(sp_json_member(metadata, "sampleRate"), 0);
  const bool is_time = sp_view_is(units, "samples") && rate > 0;
  const char *unit = is_time || sp_view_is(units, "lock_nanoseconds")
                         ? "nanoseconds"
                     : sp_view_is(units, "bytes") ? "bytes"
                                                  : "count";
  sp_view name = sp_json_view(sp_json_member(metadata, "name"));
  spanprof_status st;

  if (!bearer_is_type(name))
    name = is_time                 ? sp_view_text("cpu")
           : bearer_is_type(units) ? units
                                   : sp_view_text("samples");
  reading->scale = is_time ? BEARER_NS_PER_S / rate : 1;
  reading->counts = is_time && rate < BEARER_RATE_MAX;
  st = sp_foreign_type(reading->foreign, name, unit,
                       &reading->types[reading->sides - 1]);
  if (!st && reading->sides == BEARER_SIDES)
    st = sp_foreign_type(reading->foreign, sp_view_text(SP_FOREIGN_BEFORE),
                         unit, &reading->types[BEARER_BEFORE]);
  return st;
}

/* Add a call to the stack *node. The name of the called function has the number
 * `name`. */
static spanprof_status bearer_call(bearer_reading *reading, uint32_t name,
                                   uint32_t *node) {
  sp_view text = sp_json_view(sp_json_item(reading->names, name));
  uint32_t function;
  spanprof_status st;

  if (name >= sp_json_count(reading->names))
    return sp_foreign_malformed("number of a name");
  if (!reading->functions[name]) {
    if (!text.size)
      text = sp_view_text("[unknown]");
    st = sp_foreign_function(reading->foreign, text, sp_view_of("", 0), 0,
                             &function);
    if (st)
      return st;
    reading->functions[name] = function + 1;
  }
  return sp_foreign_call(reading->foreign, node, reading->functions[name] - 1);
}

/* Add a box, which begins at *x, and move *x to its end. */
static spanprof_status bearer_box_add(bearer_reading *reading,
                                      const sp_json_node *numbers, double *x,
                                      size_t *at, bearer_box *out) {
  const size_t width = reading->sides * 3;
  double gap = 0, total = 0, self[BEARER_SIDES];
  spanprof_status st = SPANPROF_OK;
  uint32_t node = 0;
  size_t i;

  for (i = 0; i < reading->sides; i++) {
    gap += sp_json_number(&numbers[i * 3], NAN);
    total += sp_json_number(&numbers[i * 3 + 1], NAN);
    self[i] = sp_json_number(&numbers[i * 3 + 2], 0);
  }
  if (!(gap >= 0) || !(total >= 0))
    return sp_foreign_malformed("row of boxes");
  *x += gap;
  while (*at + 1 < reading->above_count && *x >= reading->above[*at].end)
    ++*at;
  /* The box of the first row is the sum of all stacks, and not a function. */
  if (reading->above_count) {
    node = reading->above[*at].node;
    st = bearer_call(reading, sp_json_index(&numbers[width]), &node);
  }
  for (i = 0; !st && i < reading->sides; i++)
    st = sp_foreign_add(
        reading->foreign, node, reading->types[i], 0, self[i] * reading->scale,
        reading->counts && self[i] < 0x1p53 && self[i] > 0 ? (uint64_t)self[i]
                                                           : 1);
  *x += total;
  *out = (bearer_box){.end = *x, .node = node};
  return st;
}

static spanprof_status bearer_row(bearer_reading *reading,
                                  const sp_json_node *level) {
  const size_t width = reading->sides * 3 + 1;
  const size_t count = sp_json_count(level) / width;
  bearer_box *row = sp_arena_new(reading->foreign->arena, count, sizeof *row);
  spanprof_status st = SPANPROF_OK;
  size_t i, at = 0;
  double x = 0;

  if (!row)
    return reading->foreign->arena->st;
  for (i = 0; !st && i < count; i++)
    st = bearer_box_add(reading, &level->items[i * width], &x, &at, &row[i]);
  reading->above = row;
  reading->above_count = count;
  return st;
}

static spanprof_status bearer_read(sp_foreign *foreign,
                                   const sp_json_node *root) {
  const sp_json_node *bearer = sp_json_member(root, "flamebearer");
  const sp_json_node *levels = sp_json_member(bearer, "levels");
  const sp_json_node *metadata = sp_json_member(root, "metadata");
  const double start_s = sp_json_number(
      sp_json_member(sp_json_member(root, "timeline"), "startTime"), 0);
  bearer_reading reading = {
      .foreign = foreign, .names = sp_json_member(bearer, "names"), .sides = 1};
  spanprof_status st;
  size_t i;

  if (sp_view_is(sp_json_view(sp_json_member(metadata, "format")), "double"))
    reading.sides = BEARER_SIDES;
  reading.functions = sp_arena_new(foreign->arena, reading.names->count,
                                   sizeof *reading.functions);
  if (!reading.functions)
    return foreign->arena->st;
  st = bearer_types(&reading, metadata);
  for (i = 0; !st && i < levels->count; i++)
    st = bearer_row(&reading, &levels->items[i]);
  if (start_s > 0 && start_s < 9e9)
    foreign->profile->time_ns = (int64_t)(start_s * BEARER_NS_PER_S);
  return st;
}

const sp_foreign_format sp_foreign_flamebearer = {"flamebearer", bearer_is,
                                                  bearer_read};
