#include <math.h>

#include "foreign_json.h"
#include "util/system/status.h"
#include "util/text/number.h"

typedef struct stackprof_frame {
  uint64_t id;
  uint32_t function;
} stackprof_frame;

typedef struct stackprof_reading {
  sp_foreign *foreign;
  stackprof_frame *frames;
  sp_index index; /* finds a frame by its id */
} stackprof_reading;

static bool stackprof_is(const sp_json_node *root) {
  return sp_json_member(root, "frames")->kind == SP_JSON_OBJECT &&
         sp_json_member(root, "mode")->kind != SP_JSON_NULL &&
         sp_json_member(root, "interval")->kind != SP_JSON_NULL;
}

static uint64_t stackprof_hash(uint64_t id) {
  return sp_hash_mix(SP_HASH_SEED, id);
}

static spanprof_status stackprof_frames(stackprof_reading *reading,
                                        const sp_json_node *frames) {
  spanprof_status st = SPANPROF_OK;
  uint32_t i;

  reading->frames = sp_arena_new(reading->foreign->arena, frames->count,
                                 sizeof *reading->frames);
  if (!reading->frames)
    return reading->foreign->arena->st;
  for (i = 0; !st && i < frames->count; i++) {
    const sp_view key = sp_json_view(&frames->items[i * 2]);
    const sp_json_node *frame = &frames->items[i * 2 + 1];
    const sp_json_node *name = sp_json_member(frame, "name");
    const char *digits = key.bytes;
    stackprof_frame *out = &reading->frames[i];

    if (sp_number_read(&digits, key.bytes + key.size, &out->id))
      return sp_foreign_malformed("key of a frame");
    /* JSON numbers are doubles, so the id is compared as a double, too. */
    out->id = (uint64_t)(double)out->id;
    st = sp_foreign_function(
        reading->foreign,
        name->kind == SP_JSON_TEXT ? sp_json_view(name)
                                   : sp_view_text("(unknown)"),
        sp_json_view(sp_json_member(frame, "file")),
        sp_json_index(sp_json_member(frame, "line")) % UINT32_MAX,
        &out->function);
    if (!st)
      st = sp_index_reserve(&reading->index, reading->foreign->mem);
    if (!st)
      sp_index_add(&reading->index, stackprof_hash(out->id), i);
  }
  return st;
}

/* Add the call of the frame `id` to the stack *node. */
static spanprof_status stackprof_call(const stackprof_reading *reading,
                                      double id, uint32_t *node) {
  const uint64_t number = id >= 0 && id < 0x1p63 ? (uint64_t)id : UINT64_MAX;
  const uint64_t hash = stackprof_hash(number);
  uint32_t at, i;

  for (i = sp_index_first(&reading->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&reading->index, hash, &at))
    if (reading->frames[i].id == number)
      return sp_foreign_call(reading->foreign, node,
                             reading->frames[i].function);
  return sp_foreign_malformed("number of a frame");
}

/* The list has for each stack its depth, its frames from the outermost inwards,
 * and its number of samples. */
static spanprof_status stackprof_stacks(const stackprof_reading *reading,
                                        const sp_json_node *raw, double scale,
                                        uint32_t type) {
  spanprof_status st = SPANPROF_OK;
  size_t i = 0;

  while (!st && i < raw->count) {
    uint32_t depth = sp_json_index(sp_json_item(raw, i++)), node = 0, samples;

    for (; !st && depth > 0; depth--)
      st = stackprof_call(reading, sp_json_number(sp_json_item(raw, i++), -1),
                          &node);
    samples = sp_json_index(sp_json_item(raw, i++));
    if (!st && samples == UINT32_MAX)
      return sp_foreign_malformed("number of samples");
    if (!st)
      st = sp_foreign_add(reading->foreign, node, type, 0, samples * scale,
                          samples);
  }
  return st;
}

static spanprof_status stackprof_read(sp_foreign *foreign,
                                      const sp_json_node *root) {
  const sp_json_node *mode = sp_json_member(root, "mode");
  const sp_json_node *raw = sp_json_member(root, "raw");
  const sp_view name = sp_json_view(mode);
  const bool is_time = sp_view_is(name, "cpu") || sp_view_is(name, "wall");
  const double interval = sp_json_number(sp_json_member(root, "interval"), NAN);
  stackprof_reading reading = {.foreign = foreign};
  uint32_t type = 0;
  spanprof_status st;

  if (raw->kind != SP_JSON_LIST)
    return sp_fail(SPANPROF_ERR_FORMAT, "has no stacks: record with raw: true");
  if (isnan(interval))
    return sp_foreign_malformed("interval");
  st = sp_foreign_type(foreign, name.size ? name : sp_view_text("samples"),
                       is_time ? "nanoseconds" : "count", &type);
  if (!st)
    st = stackprof_frames(&reading, sp_json_member(root, "frames"));
  if (!st)
    st = stackprof_stacks(&reading, raw, interval * (is_time ? 1000 : 1), type);
  sp_index_dispose(&reading.index, foreign->mem);
  return st;
}

const sp_foreign_format sp_foreign_stackprof = {"stackprof", stackprof_is,
                                                stackprof_read};
