/* Interned stacks: arrays of frame numbers, innermost first. */
#ifndef SP_STACK_TABLE_H
#define SP_STACK_TABLE_H

#include "frame_table.h"

typedef struct sp_stack {
  uint32_t at; /* index in the `frames` of the table */
  uint32_t count;
} sp_stack;

typedef struct sp_stack_table {
  const sp_mem *mem;
  sp_frame_table *locations;
  sp_stack *stacks;
  size_t count;
  size_t capacity;
  uint32_t *frames; /* numbers in `locations` */
  size_t frame_count;
  size_t frame_capacity;
  sp_index index;
} sp_stack_table;

/* `locations` outlives the table. */
void sp_stack_table_init(sp_stack_table *table, const sp_mem *mem,
                         sp_frame_table *locations);
void sp_stack_table_dispose(sp_stack_table *table);

uint64_t sp_stack_table_hash(const sp_frame *frames, size_t count);

/* The number of a known stack, or SP_INDEX_NONE. A known stack is found without
 * a lookup of each frame: the hash covers the frames, and the comparison reads
 * each frame by its number. */
uint32_t sp_stack_table_find(const sp_stack_table *table,
                             const sp_frame *frames, size_t count,
                             uint64_t hash);

/* Add a stack that sp_stack_table_find() did not find. If it returns
 * SPANPROF_ERR_NOMEM or SPANPROF_ERR_LIMIT, the stack was not added, but some
 * of its frames may have been. */
spanprof_status sp_stack_table_add(sp_stack_table *table,
                                   const sp_frame *frames, size_t count,
                                   uint64_t hash, uint32_t *out);

size_t sp_stack_table_bytes(const sp_stack_table *table);

#endif
