/* OTLP's profiles and samples, decoded. They still refer to other items by
 * number. */
#ifndef SP_OTLP_SAMPLE_H
#define SP_OTLP_SAMPLE_H

#include "otlp_tables.h"
#include "server/receive/profile/raw_profile.h"

typedef struct sp_otlp_value_type {
  uint64_t type; /* number of a text, like `unit` */
  uint64_t unit;
  bool is_set;
} sp_otlp_value_type;

typedef struct sp_otlp_head {
  sp_otlp_value_type sample_type;
  sp_otlp_value_type period_type;
  uint64_t period;
  uint64_t time_ns;
  uint64_t duration_ns;
  sp_view id;
  sp_view *samples;
  size_t sample_count;
} sp_otlp_head;

typedef struct sp_otlp_sample {
  uint64_t stack;
  uint64_t link;
  uint64_t *attributes;
  size_t attribute_count;
  int64_t *values;
  size_t value_count;
  size_t time_count; /* number of timestamps */
} sp_otlp_sample;

spanprof_status sp_otlp_head_read(sp_otlp_head *out, sp_arena *arena,
                                  sp_view message, sp_refusal *refusal);

spanprof_status sp_otlp_sample_read(sp_otlp_sample *out, sp_arena *arena,
                                    sp_view message, sp_refusal *refusal);

#endif
