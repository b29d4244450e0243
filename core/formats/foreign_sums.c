#include "foreign_sums.h"

#include <math.h>

#include "util/system/status.h"
#include "util/text/utf8.h"

spanprof_status sp_foreign_init(sp_foreign *foreign, const sp_mem *mem) {
  *foreign = (sp_foreign){.mem = mem};
  sp_buffer_init(&foreign->text, mem);
  foreign->profile = sp_pprof_new(mem, &foreign->arena);
  if (!foreign->profile)
    return SPANPROF_ERR_NOMEM;
  return sp_call_tree_init(&foreign->calls, mem, 1);
}

void sp_foreign_dispose(sp_foreign *foreign) {
  const sp_mem *mem = foreign->mem;

  sp_pprof_free(foreign->profile);
  sp_buffer_dispose(&foreign->text);
  sp_mem_free(mem, foreign->threads);
  sp_mem_free(mem, foreign->functions);
  sp_index_dispose(&foreign->function_index, mem);
  if (foreign->calls.mem)
    sp_call_tree_dispose(&foreign->calls);
  sp_mem_free(mem, foreign->sums);
  sp_index_dispose(&foreign->sum_index, mem);
}

/* Append a text, cleaned and with a NUL. */
static void foreign_append(sp_foreign *foreign, sp_view text) {
  sp_buffer *out = &foreign->text;
  bool changed;

  if (!sp_buffer_reserve(out, text.size + 1))
    return;
  out->size += sp_utf8_clean(text.bytes, text.size, out->data + out->size,
                             text.size, &changed);
  sp_buffer_append(out, "", 1);
}

/* Copy `size` bytes to the memory of the result. */
static char *foreign_copy(sp_foreign *foreign, const char *bytes, size_t size) {
  char *copy = sp_arena_new(foreign->arena, size, 1);

  if (copy && size)
    memcpy(copy, bytes, size);
  return copy;
}

/* Clean a text into foreign->text. */
static spanprof_status foreign_clean(sp_foreign *foreign, sp_view text) {
  sp_buffer_clear(&foreign->text);
  foreign_append(foreign, text);
  return sp_buffer_status(&foreign->text);
}

spanprof_status sp_foreign_type(sp_foreign *foreign, sp_view name,
                                const char *unit, uint32_t *type) {
  spanprof_status st = foreign_clean(foreign, name);
  const char *text = foreign->text.data;
  uint32_t i;

  if (st)
    return st;
  for (i = 0; i < foreign->type_count; i++)
    if (!strcmp(foreign->types[i].type, text) &&
        !strcmp(foreign->types[i].unit, unit))
      break;
  *type = i < SP_FOREIGN_TYPES_MAX ? i : SP_PPROF_NONE;
  if (i < foreign->type_count || i == SP_FOREIGN_TYPES_MAX)
    return SPANPROF_OK;
  text = foreign_copy(foreign, text, foreign->text.size);
  if (!text)
    return foreign->arena->st;
  foreign->types[foreign->type_count++] = (sp_pprof_type){text, unit};
  return SPANPROF_OK;
}

spanprof_status sp_foreign_thread(sp_foreign *foreign, sp_view name,
                                  uint32_t *thread) {
  spanprof_status st = foreign_clean(foreign, name);
  const char *text;

  if (st)
    return st;
  text = foreign_copy(foreign, foreign->text.data, foreign->text.size);
  if (!text)
    return foreign->arena->st;
  if (foreign->thread_count == UINT32_MAX ||
      sp_mem_reserve(foreign->mem, (void **)&foreign->threads,
                     &foreign->thread_capacity, foreign->thread_count + 1,
                     sizeof *foreign->threads))
    return SPANPROF_ERR_NOMEM;
  *thread = (uint32_t)foreign->thread_count;
  foreign->threads[foreign->thread_count++] = text;
  return SPANPROF_OK;
}

/* Find the function whose name and file are in foreign->text. */
static uint32_t foreign_find(const sp_foreign *foreign, uint64_t hash) {
  const char *name = foreign->text.data, *file = name + strlen(name) + 1;
  const sp_pprof_function *function;
  uint32_t at, i;

  for (i = sp_index_first(&foreign->function_index, hash, &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&foreign->function_index, hash, &at)) {
    function = &foreign->functions[i];
    if (!strcmp(function->name, name) && !strcmp(function->file, file))
      break;
  }
  return i;
}

spanprof_status sp_foreign_function(sp_foreign *foreign, sp_view name,
                                    sp_view file, int64_t line,
                                    uint32_t *function) {
  uint64_t hash;
  char *copy;

  if (foreign_clean(foreign, name))
    return SPANPROF_ERR_NOMEM;
  foreign_append(foreign, file);
  if (foreign->text.failed)
    return SPANPROF_ERR_NOMEM;
  hash = sp_hash_bytes(foreign->text.data, foreign->text.size);
  *function = foreign_find(foreign, hash);
  if (*function != SP_INDEX_NONE)
    return SPANPROF_OK;
  copy = foreign_copy(foreign, foreign->text.data, foreign->text.size);
  if (!copy)
    return foreign->arena->st;
  if (sp_mem_reserve(foreign->mem, (void **)&foreign->functions,
                     &foreign->function_capacity, foreign->function_count + 1,
                     sizeof *foreign->functions) ||
      sp_index_reserve(&foreign->function_index, foreign->mem))
    return SPANPROF_ERR_NOMEM;
  *function = (uint32_t)foreign->function_count;
  foreign->functions[foreign->function_count++] =
      (sp_pprof_function){.name = copy,
                          .system_name = "",
                          .file = copy + strlen(copy) + 1,
                          .start_line = line > 0 ? line : 0};
  sp_index_add(&foreign->function_index, hash, *function);
  return SPANPROF_OK;
}

spanprof_status sp_foreign_call(sp_foreign *foreign, uint32_t *node,
                                uint32_t function) {
  const int64_t depth = *sp_call_tree_values(&foreign->calls, *node) + 1;
  spanprof_status st;

  if (depth > SP_FOREIGN_DEPTH_MAX)
    return sp_fail(SPANPROF_ERR_FORMAT, "has a stack of more than %d frames",
                   SP_FOREIGN_DEPTH_MAX);
  st = sp_call_tree_child(&foreign->calls, node, function);
  if (!st)
    *sp_call_tree_values(&foreign->calls, *node) = depth;
  return st;
}

static uint64_t foreign_hash(uint32_t node, uint32_t type, uint32_t thread) {
  return sp_hash_mix(sp_hash_mix(sp_hash_mix(SP_HASH_SEED, node), type),
                     thread);
}

/* The index of the sum of a stack, or SP_INDEX_NONE. */
static uint32_t foreign_sum_find(const sp_foreign *foreign, uint32_t node,
                                 uint32_t type, uint32_t thread) {
  const uint64_t hash = foreign_hash(node, type, thread);
  uint32_t at, i;

  for (i = sp_index_first(&foreign->sum_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&foreign->sum_index, hash, &at))
    if (foreign->sums[i].node == node && foreign->sums[i].type == type &&
        foreign->sums[i].thread == thread)
      break;
  return i;
}

/* Find or add the sum of a stack. */
static sp_foreign_sum *foreign_sum(sp_foreign *foreign, uint32_t node,
                                   uint32_t type, uint32_t thread) {
  uint32_t i = foreign_sum_find(foreign, node, type, thread);

  if (i != SP_INDEX_NONE)
    return &foreign->sums[i];
  if (sp_mem_reserve(foreign->mem, (void **)&foreign->sums,
                     &foreign->sum_capacity, foreign->sum_count + 1,
                     sizeof *foreign->sums) ||
      sp_index_reserve(&foreign->sum_index, foreign->mem))
    return NULL;
  i = (uint32_t)foreign->sum_count++;
  foreign->sums[i] =
      (sp_foreign_sum){.node = node, .type = type, .thread = thread};
  sp_index_add(&foreign->sum_index, foreign_hash(node, type, thread), i);
  return &foreign->sums[i];
}

spanprof_status sp_foreign_add(sp_foreign *foreign, uint32_t node,
                               uint32_t type, uint32_t thread, double value,
                               uint64_t samples) {
  sp_foreign_sum *sum;

  if (!(value > 0) || type == SP_PPROF_NONE)
    return SPANPROF_OK;
  sum = foreign_sum(foreign, node, type, thread);
  if (!sum)
    return SPANPROF_ERR_NOMEM;
  sum->value += value;
  sum->samples += samples;
  return SPANPROF_OK;
}

static int64_t foreign_rounded(double value) {
  return value < 0x1p63 ? llround(value) : INT64_MAX;
}

/* Write the stack of a sum, the innermost frame first. */
static spanprof_status foreign_stack(sp_foreign *foreign, uint32_t node,
                                     sp_pprof_sample *out) {
  const sp_call_tree *calls = &foreign->calls;
  const size_t depth = (size_t)*sp_call_tree_values(calls, node);
  uint32_t *locations = sp_arena_new(foreign->arena, depth, sizeof *locations);
  size_t i;

  if (!locations)
    return foreign->arena->st;
  for (i = 0; i < depth; i++, node = calls->nodes[node].parent)
    locations[i] = calls->nodes[node].function;
  out->locations = locations;
  out->location_count = (uint32_t)depth;
  return SPANPROF_OK;
}

static spanprof_status foreign_label(sp_foreign *foreign, uint32_t thread,
                                     sp_pprof_sample *out) {
  sp_pprof_label *label;

  if (foreign->thread_count < 2)
    return SPANPROF_OK;
  label = sp_arena_new(foreign->arena, 1, sizeof *label);
  if (!label)
    return foreign->arena->st;
  *label = (sp_pprof_label){
      .key = "thread", .text = foreign->threads[thread], .unit = ""};
  out->labels = label;
  out->label_count = 1;
  return SPANPROF_OK;
}

/* Returns whether the value of a sum is in the sample of another sum. */
static bool foreign_is_elsewhere(const sp_foreign *foreign,
                                 const sp_foreign_sum *sum) {
  uint32_t type;

  for (type = 0; foreign->is_joint && type < sum->type; type++)
    if (foreign_sum_find(foreign, sum->node, type, sum->thread) !=
        SP_INDEX_NONE)
      return true;
  return false;
}

/* Write the value of a sum and, in a joint sample, those of the other types. */
static void foreign_values(const sp_foreign *foreign, const sp_foreign_sum *sum,
                           int64_t *values) {
  uint32_t type, i;

  values[sum->type] = foreign_rounded(sum->value);
  for (type = sum->type + 1; foreign->is_joint && type < foreign->type_count;
       type++) {
    i = foreign_sum_find(foreign, sum->node, type, sum->thread);
    if (i != SP_INDEX_NONE)
      values[type] = foreign_rounded(foreign->sums[i].value);
  }
}

static spanprof_status foreign_sample(sp_foreign *foreign,
                                      const sp_foreign_sum *sum,
                                      sp_pprof_sample *out) {
  int64_t *values =
      sp_arena_new(foreign->arena, foreign->type_count, sizeof *values);
  spanprof_status st;

  if (!values)
    return foreign->arena->st;
  if (foreign->counts)
    values[foreign->type_count - 1] =
        (int64_t)sp_min_u64(sum->samples, INT64_MAX);
  foreign_values(foreign, sum, values);
  out->values = values;
  st = foreign_stack(foreign, sum->node, out);
  return st ? st : foreign_label(foreign, sum->thread, out);
}

/* Each function has one location. */
static spanprof_status foreign_locations(sp_foreign *foreign) {
  const size_t count = foreign->function_count;
  sp_pprof_location *locations =
      sp_arena_new(foreign->arena, count, sizeof *locations);
  sp_pprof_line *lines = sp_arena_new(foreign->arena, count, sizeof *lines);
  sp_pprof *profile = foreign->profile;
  size_t i;

  if (!locations || !lines)
    return foreign->arena->st;
  for (i = 0; i < count; i++) {
    lines[i] = (sp_pprof_line){.function = (uint32_t)i,
                               .line = foreign->functions[i].start_line};
    locations[i] = (sp_pprof_location){
        .mapping = SP_PPROF_NONE, .line_count = 1, .lines = &lines[i]};
  }
  profile->functions = (const sp_pprof_function *)foreign_copy(
      foreign, (const char *)foreign->functions,
      count * sizeof *profile->functions);
  profile->locations = locations;
  profile->function_count = profile->location_count = count;
  return profile->functions ? SPANPROF_OK : foreign->arena->st;
}

/* Add a type that counts samples, unless the file has one. */
static void foreign_count_type(sp_foreign *foreign) {
  static const char name[] = "samples";
  uint32_t i;

  for (i = 0; i < foreign->type_count; i++)
    if (!strcmp(foreign->types[i].type, name))
      return;
  foreign->types[foreign->type_count++] = (sp_pprof_type){name, "count"};
  foreign->counts = true;
}

spanprof_status sp_foreign_finish(sp_foreign *foreign, sp_pprof **out) {
  sp_pprof *profile = foreign->profile;
  sp_pprof_sample *samples =
      sp_arena_new(foreign->arena, foreign->sum_count, sizeof *samples);
  spanprof_status st = foreign_locations(foreign);
  size_t i;

  foreign_count_type(foreign);
  profile->types = (const sp_pprof_type *)foreign_copy(
      foreign, (const char *)foreign->types,
      foreign->type_count * sizeof *foreign->types);
  if (!samples || !profile->types)
    return foreign->arena->st;
  for (i = 0; !st && i < foreign->sum_count; i++)
    if (!foreign_is_elsewhere(foreign, &foreign->sums[i]))
      st = foreign_sample(foreign, &foreign->sums[i],
                          &samples[profile->sample_count++]);
  if (st)
    return st;
  profile->samples = samples;
  profile->type_count = foreign->type_count;
  profile->period_type = (sp_pprof_type){"", ""};
  *out = profile;
  foreign->profile = NULL;
  return SPANPROF_OK;
}
