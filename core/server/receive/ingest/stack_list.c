#include "stack_list.h"

void sp_stack_list_init(sp_stack_list *list, sp_arena *arena,
                        sp_refusal *refusal) {
  memset(list, 0, sizeof *list);
  list->arena = arena;
  list->refusal = refusal;
}

void sp_stack_list_dispose(sp_stack_list *list) {
  const sp_mem *mem = list->arena->mem;

  sp_mem_free(mem, list->names);
  sp_mem_free(mem, list->stacks);
  sp_mem_free(mem, list->frames);
  sp_index_dispose(&list->name_index, mem);
  sp_index_dispose(&list->stack_index, mem);
}

static spanprof_status stack_list_name(sp_stack_list *list, sp_view name,
                                       uint32_t *out) {
  const uint64_t hash = sp_hash_bytes(name.bytes, name.size);
  const sp_mem *mem = list->arena->mem;
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&list->name_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&list->name_index, hash, &at))
    if (sp_view_equal(list->names[i], name)) {
      *out = i;
      return SPANPROF_OK;
    }
  st = sp_mem_reserve(mem, (void **)&list->names, &list->name_capacity,
                      list->name_count + 1, sizeof *list->names);
  if (!st)
    st = sp_index_reserve(&list->name_index, mem);
  if (st)
    return st;
  *out = (uint32_t)list->name_count;
  sp_index_add(&list->name_index, hash, *out);
  list->names[list->name_count++] = name;
  return SPANPROF_OK;
}

/* Append frame number `at` of a new stack to list->frames. */
static spanprof_status stack_list_frame(sp_stack_list *list, size_t at,
                                        sp_view name) {
  spanprof_status st = sp_mem_reserve(
      list->arena->mem, (void **)&list->frames, &list->frame_capacity,
      list->frame_count + at + 1, sizeof *list->frames);

  return st ? st
            : stack_list_name(list, name,
                              &list->frames[list->frame_count + at]);
}

static bool stack_list_is(const sp_stack_list *list,
                          const sp_stack_entry *entry, size_t count) {
  return entry->count == count &&
         memcmp(list->frames + entry->first, list->frames + list->frame_count,
                count * sizeof *list->frames) == 0;
}

/* Make a stack of the last `count` frames. If the list has an equal stack, the
 * value is added to that one and the frames are removed. */
static spanprof_status stack_list_end(sp_stack_list *list, size_t count,
                                      uint64_t value) {
  const sp_mem *mem = list->arena->mem;
  spanprof_status st =
      sp_mem_reserve(mem, (void **)&list->frames, &list->frame_capacity,
                     list->frame_count + count + 1, sizeof *list->frames);
  uint64_t hash;
  uint32_t i, at;

  if (st)
    return st;
  hash = sp_hash_bytes(list->frames + list->frame_count,
                       count * sizeof *list->frames);
  for (i = sp_index_first(&list->stack_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&list->stack_index, hash, &at))
    if (stack_list_is(list, &list->stacks[i], count)) {
      list->stacks[i].value += value;
      return SPANPROF_OK;
    }
  st = sp_mem_reserve(mem, (void **)&list->stacks, &list->stack_capacity,
                      list->stack_count + 1, sizeof *list->stacks);
  if (!st)
    st = sp_index_reserve(&list->stack_index, mem);
  if (st)
    return st;
  sp_index_add(&list->stack_index, hash, (uint32_t)list->stack_count);
  list->stacks[list->stack_count++] =
      (sp_stack_entry){list->frame_count, count, value};
  list->frame_count += count;
  return SPANPROF_OK;
}

spanprof_status sp_stack_list_add(sp_stack_list *list, const sp_view *frames,
                                  size_t count, uint64_t value) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < count; i++)
    st = stack_list_frame(list, i, frames[i]);
  return st ? st : stack_list_end(list, count, value);
}

spanprof_status sp_stack_list_add_key(sp_stack_list *list, sp_view key,
                                      uint64_t value) {
  size_t start = 0, count = 0, i;
  spanprof_status st = SPANPROF_OK;

  for (i = 0; !st && i <= key.size; i++) {
    if (i < key.size && key.bytes[i] != ';')
      continue;
    if (i < key.size || start < i)
      st = stack_list_frame(list, count++,
                            sp_view_of(key.bytes + start, i - start));
    start = i + 1;
  }
  return st ? st : stack_list_end(list, count, value);
}

/* Numbers of the texts of `meta`, from 1. */
enum {
  STACK_TYPE = 1,
  STACK_UNIT,
  STACK_PERIOD_TYPE,
  STACK_PERIOD_UNIT,
  STACK_LABEL,
  STACK_SPAN_ID,
  STACK_NAMES
};

static void stack_list_texts(const sp_stack_list *list,
                             const sp_stack_meta *meta, sp_raw_line *lines,
                             sp_raw_profile *out) {
  size_t i;

  out->texts[0] = sp_view_of("", 0);
  out->texts[STACK_TYPE] = sp_view_text(meta->type);
  out->texts[STACK_UNIT] = sp_view_text(meta->unit);
  out->texts[STACK_PERIOD_TYPE] = sp_view_text(meta->period_type);
  out->texts[STACK_PERIOD_UNIT] = sp_view_text(meta->period_unit);
  out->texts[STACK_LABEL] = sp_view_text("profile_id");
  out->texts[STACK_SPAN_ID] = meta->span_id;
  for (i = 0; i < list->name_count; i++) {
    out->texts[STACK_NAMES + i] = list->names[i];
    out->functions[i] =
        (sp_raw_function){.id = i + 1, .name = (int64_t)(STACK_NAMES + i)};
    out->locations[i].id = i + 1;
    lines[i].function = i + 1;
    out->locations[i].lines = &lines[i];
    out->locations[i].line_count = 1;
    out->bytes += list->names[i].size + 16;
  }
}

/* Write a sample. All samples have the same label, the span id. */
static spanprof_status stack_list_sample(const sp_stack_list *list,
                                         const sp_stack_entry *entry,
                                         const sp_stack_meta *meta,
                                         sp_raw_label *span,
                                         sp_raw_profile *out) {
  sp_raw_sample *sample = &out->samples[out->sample_count++];
  spanprof_status st;
  size_t i;

  st = sp_raw_new(list->arena, entry->count, sizeof(uint64_t),
                  &sample->locations, list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, 1, sizeof(int64_t), &sample->values,
                    list->refusal);
  if (st)
    return st;
  sample->values[0] = (int64_t)(entry->value * meta->scale);
  sample->value_count = 1;
  sample->location_count = entry->count;
  sample->labels = span;
  sample->label_count = meta->span_id.size ? 1 : 0;
  for (i = 0; i < entry->count; i++)
    sample->locations[entry->count - 1 - i] =
        (uint64_t)list->frames[entry->first + i] + 1;
  out->bytes += 8 + 2 * entry->count;
  return SPANPROF_OK;
}

spanprof_status sp_stack_list_profile(const sp_stack_list *list,
                                      const sp_stack_meta *meta,
                                      sp_raw_profile *out) {
  sp_raw_label *span;
  sp_raw_line *lines;
  spanprof_status st;
  size_t i;

  memset(out, 0, sizeof *out);
  out->arena = list->arena;
  out->text_count = STACK_NAMES + list->name_count;
  out->function_count = out->location_count = list->name_count;
  out->type_count = 1;
  out->has_period_type = meta->period_type != NULL;
  out->period_type = (sp_raw_type){STACK_PERIOD_TYPE, STACK_PERIOD_UNIT};
  out->period = meta->period;
  out->time_ns = meta->time_ns;
  st = sp_raw_new(list->arena, out->text_count, sizeof *out->texts, &out->texts,
                  list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, list->name_count, sizeof *out->functions,
                    &out->functions, list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, list->name_count, sizeof *out->locations,
                    &out->locations, list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, list->name_count, sizeof *lines, &lines,
                    list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, 1, sizeof *span, &span, list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, 1, sizeof *out->types, &out->types,
                    list->refusal);
  if (!st)
    st = sp_raw_new(list->arena, list->stack_count, sizeof *out->samples,
                    &out->samples, list->refusal);
  if (st)
    return st;
  *span = (sp_raw_label){.key = STACK_LABEL, .text = STACK_SPAN_ID};
  out->types[0] = (sp_raw_type){STACK_TYPE, STACK_UNIT};
  stack_list_texts(list, meta, lines, out);
  for (i = 0; !st && i < list->stack_count; i++)
    if (list->stacks[i].value)
      st = stack_list_sample(list, &list->stacks[i], meta, span, out);
  return st;
}
