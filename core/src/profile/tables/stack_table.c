#include "stack_table.h"

void sp_stack_table_init(sp_stack_table *table, const sp_mem *mem,
                         sp_frame_table *locations) {
  memset(table, 0, sizeof *table);
  table->mem = mem;
  table->locations = locations;
}

void sp_stack_table_dispose(sp_stack_table *table) {
  sp_mem_free(table->mem, table->stacks);
  sp_mem_free(table->mem, table->frames);
  sp_index_dispose(&table->index, table->mem);
  sp_stack_table_init(table, table->mem, table->locations);
}

uint64_t sp_stack_table_hash(const sp_frame *frames, size_t count) {
  uint64_t hash = SP_HASH_SEED ^ count;
  size_t i;

  /* The processor can overlap the multiplications of several frames, because
   * the inner product does not depend on the previous frame. */
  for (i = 0; i < count; i++) {
    const sp_frame *frame = &frames[i];
    const uint64_t where = ((uint64_t)frame->module << 32) | frame->kind;

    hash = sp_hash_mix(
        hash, sp_hash_mix(frame->code, frame->position ^ (where << 8)));
  }
  return hash;
}

static bool stack_table_equal(const sp_stack_table *table,
                              const sp_stack *stack, const sp_frame *frames,
                              size_t count) {
  const uint32_t *numbers = table->frames + stack->at;
  const sp_location *locations = table->locations->locations;
  size_t i;

  if (stack->count != count)
    return false;
  for (i = 0; i < count; i++)
    if (!sp_frame_equal(&locations[numbers[i]].frame, &frames[i]))
      return false;
  return true;
}

uint32_t sp_stack_table_find(const sp_stack_table *table,
                             const sp_frame *frames, size_t count,
                             uint64_t hash) {
  uint32_t i, at;

  for (i = sp_index_first(&table->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&table->index, hash, &at))
    if (stack_table_equal(table, &table->stacks[i], frames, count))
      return i;
  return SP_INDEX_NONE;
}

spanprof_status sp_stack_table_add(sp_stack_table *table,
                                   const sp_frame *frames, size_t count,
                                   uint64_t hash, uint32_t *out) {
  spanprof_status st;
  size_t i;

  *out = 0;
  if (count > UINT32_MAX - table->frame_count)
    return SPANPROF_ERR_LIMIT;
  st = sp_index_reserve(&table->index, table->mem);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->stacks, &table->capacity,
                        table->count + 1, sizeof *table->stacks);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->frames,
                        &table->frame_capacity, table->frame_count + count,
                        sizeof *table->frames);
  for (i = 0; !st && i < count; i++)
    st = sp_frame_table_intern(table->locations, &frames[i],
                               &table->frames[table->frame_count + i]);
  if (st)
    return st;
  table->stacks[table->count] =
      (sp_stack){(uint32_t)table->frame_count, (uint32_t)count};
  table->frame_count += count;
  sp_index_add(&table->index, hash, (uint32_t)table->count);
  *out = (uint32_t)table->count++;
  return SPANPROF_OK;
}

size_t sp_stack_table_bytes(const sp_stack_table *table) {
  return table->capacity * sizeof *table->stacks +
         table->frame_capacity * sizeof *table->frames +
         sp_index_bytes(&table->index);
}
