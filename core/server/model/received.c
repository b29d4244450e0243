#include "received.h"

#include <string.h>

#include "util/system/status.h"
#include "util/text/utf8.h"

/* Record an error, unless there is one already. */
static void received_fail(sp_received *profile, spanprof_status st) {
  if (!profile->st)
    profile->st = st;
}

static void received_fail_limit(sp_received *profile) {
  if (!profile->st)
    profile->st = sp_fail(SPANPROF_ERR_LIMIT,
                          "the profile needs more than %zu bytes of memory",
                          profile->bytes_max);
}

/* Reserve capacity for `more` items after the `count` items of an array. */
static bool received_reserve(sp_received *profile, void *array_of,
                             size_t *capacity, size_t count, size_t more,
                             size_t item) {
  const size_t before = *capacity;
  void *array;
  spanprof_status st;

  if (profile->st)
    return false;
  if (count + more <= *capacity)
    return true;
  /* sp_mem_reserve() doubles the capacity. */
  if (count + more > profile->bytes_max / item / 2 ||
      profile->table_bytes + (count + more) * 2 * item > profile->bytes_max) {
    received_fail_limit(profile);
    return false;
  }
  memcpy(&array, array_of, sizeof array);
  st = sp_mem_reserve(profile->mem, &array, capacity, count + more, item);
  if (st) {
    received_fail(profile, st);
    return false;
  }
  memcpy(array_of, &array, sizeof array);
  profile->table_bytes += (*capacity - before) * item;
  return true;
}

#define RECEIVED_ROOM(profile, name, more)                                    \
  received_reserve(profile, &(profile)->name##s, &(profile)->name##_capacity, \
                   (profile)->name##_count, more, sizeof *(profile)->name##s)

static bool received_index(sp_received *profile, sp_index *index) {
  const size_t before = sp_index_bytes(index);
  spanprof_status st =
      profile->st ? profile->st : sp_index_reserve(index, profile->mem);

  received_fail(profile, st);
  profile->table_bytes += sp_index_bytes(index) - before;
  return !profile->st;
}

uint32_t sp_received_add_text(sp_received *profile, const char *bytes,
                              size_t size) {
  uint64_t hash;
  uint32_t at, i;
  char *copy;

  if (profile->st || size == 0)
    return 0;
  hash = sp_hash_bytes(bytes, size);
  for (i = sp_index_first(&profile->text_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&profile->text_index, hash, &at))
    if (profile->texts[i].size == size &&
        memcmp(profile->texts[i].bytes, bytes, size) == 0)
      return i;
  if (size > UINT32_MAX - 1 || !sp_utf8_valid(bytes, size)) {
    received_fail(profile,
                  sp_fail(SPANPROF_ERR_FORMAT, "a text is not valid UTF-8"));
    return 0;
  }
  copy = sp_arena_new(&profile->arena, size + 1, 1);
  if (!copy) {
    if (profile->arena.st == SPANPROF_ERR_LIMIT)
      received_fail_limit(profile);
    received_fail(profile, profile->arena.st);
    return 0;
  }
  if (!RECEIVED_ROOM(profile, text, 1) ||
      !received_index(profile, &profile->text_index))
    return 0;
  memcpy(copy, bytes, size);
  profile->texts[profile->text_count] =
      (sp_received_text){.bytes = copy, .size = (uint32_t)size};
  sp_index_add(&profile->text_index, hash, (uint32_t)profile->text_count);
  return (uint32_t)profile->text_count++;
}

uint32_t sp_received_add_function(sp_received *profile, uint32_t name,
                                  uint32_t file, int64_t start_line) {
  const uint64_t hash =
      sp_hash_mix(sp_hash_mix(SP_HASH_SEED, (uint64_t)name << 32 | file),
                  (uint64_t)start_line);
  uint32_t at, i;

  if (profile->st)
    return 0;
  for (i = sp_index_first(&profile->function_index, hash, &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&profile->function_index, hash, &at)) {
    const sp_received_function *function = &profile->functions[i];

    if (function->name == name && function->file == file &&
        function->start_line == start_line)
      return i;
  }
  if (!RECEIVED_ROOM(profile, function, 1) ||
      !received_index(profile, &profile->function_index))
    return 0;
  profile->functions[profile->function_count] = (sp_received_function){
      .name = name, .file = file, .start_line = start_line};
  sp_index_add(&profile->function_index, hash,
               (uint32_t)profile->function_count);
  return (uint32_t)profile->function_count++;
}

static bool received_same_location(const sp_received *profile, uint32_t number,
                                   const sp_received_line *lines, size_t count,
                                   uint64_t address) {
  const sp_received_location *location = &profile->locations[number];
  size_t i;

  if (location->line_count != count || location->address != address)
    return false;
  for (i = 0; i < count; i++) {
    const sp_received_line *line = &profile->lines[location->first_line + i];

    if (line->function != lines[i].function || line->line != lines[i].line)
      return false;
  }
  return true;
}

uint32_t sp_received_add_location(sp_received *profile,
                                  const sp_received_line *lines, size_t count,
                                  uint64_t address) {
  uint64_t hash = SP_HASH_SEED;
  uint32_t at, number;
  size_t i;

  if (profile->st)
    return 0;
  if (count)
    address = 0;
  hash = sp_hash_mix(hash, address);
  for (i = 0; i < count; i++)
    hash = sp_hash_mix(sp_hash_mix(hash, lines[i].function),
                       (uint64_t)lines[i].line);
  for (number = sp_index_first(&profile->location_index, hash, &at);
       number != SP_INDEX_NONE;
       number = sp_index_next(&profile->location_index, hash, &at))
    if (received_same_location(profile, number, lines, count, address))
      return number;
  if (!RECEIVED_ROOM(profile, line, count) ||
      !RECEIVED_ROOM(profile, location, 1) ||
      !received_index(profile, &profile->location_index))
    return 0;
  profile->locations[profile->location_count] =
      (sp_received_location){.first_line = (uint32_t)profile->line_count,
                             .line_count = (uint32_t)count,
                             .address = address};
  for (i = 0; i < count; i++)
    profile->lines[profile->line_count++] = lines[i];
  sp_index_add(&profile->location_index, hash,
               (uint32_t)profile->location_count);
  return (uint32_t)profile->location_count++;
}

uint32_t sp_received_add_stack(sp_received *profile, const uint32_t *locations,
                               size_t count) {
  uint64_t hash;
  uint32_t at, number;
  sp_received_stack *stack;

  if (profile->st || count == 0)
    return 0;
  hash = sp_hash_bytes(locations, count * sizeof *locations);
  for (number = sp_index_first(&profile->stack_index, hash, &at);
       number != SP_INDEX_NONE;
       number = sp_index_next(&profile->stack_index, hash, &at)) {
    stack = &profile->stacks[number];
    if (stack->count == count &&
        memcmp(&profile->stack_frames[stack->first], locations,
               count * sizeof *locations) == 0)
      return number;
  }
  if (!RECEIVED_ROOM(profile, stack_frame, count) ||
      !RECEIVED_ROOM(profile, stack, 1) ||
      !received_index(profile, &profile->stack_index))
    return 0;
  stack = &profile->stacks[profile->stack_count];
  stack->first = (uint32_t)profile->stack_frame_count;
  stack->count = (uint32_t)count;
  memcpy(&profile->stack_frames[stack->first], locations,
         count * sizeof *locations);
  profile->stack_frame_count += count;
  sp_index_add(&profile->stack_index, hash, (uint32_t)profile->stack_count);
  return (uint32_t)profile->stack_count++;
}

/* Sort the pairs by name, and remove pairs with empty values or repeated names.
 * Insertion sort is enough, because sets are small. */
static size_t received_sort_pairs(const sp_received *profile,
                                  const sp_received_pair *pairs, size_t count,
                                  sp_received_pair *out) {
  size_t kept = 0, i, at;

  for (i = 0; i < count; i++) {
    int order = 1;

    if (pairs[i].value == 0)
      continue;
    for (at = 0; at < kept; at++) {
      order = strcmp(sp_received_text_of(profile, pairs[i].name),
                     sp_received_text_of(profile, out[at].name));
      if (order <= 0)
        break;
    }
    if (order == 0)
      continue;
    memmove(&out[at + 1], &out[at], (kept - at) * sizeof *out);
    out[at] = pairs[i];
    kept++;
  }
  return kept;
}

uint32_t sp_received_add_labels(sp_received *profile,
                                const sp_received_pair *pairs, size_t count) {
  sp_received_pair sorted[SP_RECEIVED_LABELS_MAX];
  sp_received_labels *set;
  uint64_t hash;
  uint32_t at, number;

  if (profile->st)
    return 0;
  if (count > SP_RECEIVED_LABELS_MAX) {
    received_fail(profile, sp_fail(SPANPROF_ERR_LIMIT,
                                   "a series has more than %d labels",
                                   SP_RECEIVED_LABELS_MAX));
    return 0;
  }
  count = received_sort_pairs(profile, pairs, count, sorted);
  if (count == 0)
    return 0;
  hash = sp_hash_bytes(sorted, count * sizeof *sorted);
  for (number = sp_index_first(&profile->set_index, hash, &at);
       number != SP_INDEX_NONE;
       number = sp_index_next(&profile->set_index, hash, &at)) {
    set = &profile->label_sets[number];
    if (set->count == count && memcmp(&profile->pairs[set->first], sorted,
                                      count * sizeof *sorted) == 0)
      return number;
  }
  if (!RECEIVED_ROOM(profile, pair, count) ||
      !RECEIVED_ROOM(profile, label_set, 1) ||
      !received_index(profile, &profile->set_index))
    return 0;
  set = &profile->label_sets[profile->label_set_count];
  set->first = (uint32_t)profile->pair_count;
  set->count = (uint32_t)count;
  memcpy(&profile->pairs[set->first], sorted, count * sizeof *sorted);
  profile->pair_count += count;
  sp_index_add(&profile->set_index, hash, (uint32_t)profile->label_set_count);
  return (uint32_t)profile->label_set_count++;
}

void sp_received_add_type(sp_received *profile, const char *type,
                          const char *unit) {
  sp_received_type added;

  added.type = sp_received_add_text(profile, type, strlen(type));
  added.unit = sp_received_add_text(profile, unit, strlen(unit));
  if (RECEIVED_ROOM(profile, type, 1))
    profile->types[profile->type_count++] = added;
}

void sp_received_add_sample(sp_received *profile,
                            const sp_received_sample *sample,
                            const int64_t *values) {
  sp_received_sample *added;

  if (!RECEIVED_ROOM(profile, sample, 1) ||
      !RECEIVED_ROOM(profile, value, profile->type_count))
    return;
  added = &profile->samples[profile->sample_count++];
  *added = *sample;
  added->values = (uint32_t)profile->value_count;
  memcpy(&profile->values[profile->value_count], values,
         profile->type_count * sizeof *values);
  profile->value_count += profile->type_count;
}

const char *sp_received_label(const sp_received *profile, uint32_t set,
                              const char *name) {
  const sp_received_labels *labels = &profile->label_sets[set];
  uint32_t i;

  for (i = 0; i < labels->count; i++) {
    const sp_received_pair *pair = &profile->pairs[labels->first + i];

    if (strcmp(sp_received_text_of(profile, pair->name), name) == 0)
      return sp_received_text_of(profile, pair->value);
  }
  return NULL;
}

spanprof_status sp_received_new(sp_received **out, const sp_mem *mem,
                                size_t bytes_max) {
  sp_received *profile = sp_mem_zero(mem, sizeof *profile);

  *out = NULL;
  if (!profile)
    return SPANPROF_ERR_NOMEM;
  profile->mem = mem;
  profile->bytes_max = bytes_max;
  sp_arena_init(&profile->arena, mem, bytes_max);
  if (!RECEIVED_ROOM(profile, text, 1) || !RECEIVED_ROOM(profile, stack, 1) ||
      !RECEIVED_ROOM(profile, label_set, 1)) {
    spanprof_status st = profile->st;

    sp_received_free(profile);
    return st;
  }
  profile->texts[profile->text_count++] = (sp_received_text){.bytes = ""};
  profile->stacks[profile->stack_count++] = (sp_received_stack){0};
  profile->label_sets[profile->label_set_count++] = (sp_received_labels){0};
  *out = profile;
  return SPANPROF_OK;
}

void sp_received_free(sp_received *profile) {
  const sp_mem *mem;

  if (!profile)
    return;
  mem = profile->mem;
  sp_arena_dispose(&profile->arena);
  sp_mem_free(mem, profile->texts);
  sp_mem_free(mem, profile->functions);
  sp_mem_free(mem, profile->lines);
  sp_mem_free(mem, profile->locations);
  sp_mem_free(mem, profile->stack_frames);
  sp_mem_free(mem, profile->stacks);
  sp_mem_free(mem, profile->pairs);
  sp_mem_free(mem, profile->label_sets);
  sp_mem_free(mem, profile->samples);
  sp_mem_free(mem, profile->values);
  sp_mem_free(mem, profile->types);
  sp_index_dispose(&profile->text_index, mem);
  sp_index_dispose(&profile->function_index, mem);
  sp_index_dispose(&profile->location_index, mem);
  sp_index_dispose(&profile->stack_index, mem);
  sp_index_dispose(&profile->set_index, mem);
  sp_mem_free(mem, profile);
}
