/* Builds a profile in the structure of pprof from OTLP's tables. Each item that
 * the profile uses is converted once. */
#ifndef SP_OTLP_BUILDER_H
#define SP_OTLP_BUILDER_H

#include "otlp_sample.h"
#include "util/memory/hash_index.h"

typedef struct sp_otlp_map {
  sp_index index;
  uint64_t *keys; /* numbers of the items in OTLP's table, in order of use */
  size_t count, capacity;
} sp_otlp_map;

typedef struct sp_otlp_stack {
  uint64_t *locations;
  size_t count;
} sp_otlp_stack;

typedef struct sp_otlp_builder {
  const sp_otlp_tables *tables;
  sp_refusal *refusal;
  sp_raw_profile *raw;
  sp_otlp_map mappings, locations, functions, stacks;
  sp_otlp_stack *stack_items;
  size_t text_capacity, mapping_capacity, location_capacity, function_capacity,
      stack_capacity;
} sp_otlp_builder;

void sp_otlp_builder_init(sp_otlp_builder *builder,
                          const sp_otlp_tables *tables, sp_raw_profile *raw,
                          sp_refusal *refusal);
void sp_otlp_builder_dispose(sp_otlp_builder *builder);

/* Append a text. *out gets its number. */
spanprof_status sp_otlp_builder_text(sp_otlp_builder *builder, sp_view text,
                                     int64_t *out);

/* Get the location ids of a stack, which is converted if necessary. */
spanprof_status sp_otlp_builder_stack(sp_otlp_builder *builder, uint64_t number,
                                      sp_otlp_stack *out);

#endif
