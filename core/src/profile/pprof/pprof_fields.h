/* The top-level fields of a protobuf message, one by one, without building
 * anything: https://protobuf.dev/programming-guides/encoding/. */
#ifndef SP_PPROF_FIELDS_H
#define SP_PPROF_FIELDS_H

#include "util/base.h"

/* Fields of Profile in profile.proto. */
enum {
  SP_PPROF_FIELD_SAMPLE_TYPE = 1,
  SP_PPROF_FIELD_SAMPLE = 2,
  SP_PPROF_FIELD_MAPPING = 3,
  SP_PPROF_FIELD_LOCATION = 4,
  SP_PPROF_FIELD_FUNCTION = 5,
  SP_PPROF_FIELD_TEXT = 6,
  SP_PPROF_FIELD_TIME = 9,
  SP_PPROF_FIELD_DURATION = 10,
  SP_PPROF_FIELD_PERIOD_TYPE = 11,
  SP_PPROF_FIELD_PERIOD = 12,
  SP_PPROF_FIELD_COMMENT = 13,
  SP_PPROF_FIELD_DEFAULT_TYPE = 14,
  SP_PPROF_FIELD_COUNT
};

/* The wire types that these have in a tag, below the number. */
#define SP_PPROF_WIRE_NUMBER 0u
#define SP_PPROF_WIRE_BYTES  2u /* with their length before them */

typedef struct sp_pprof_field {
  uint32_t number;
  bool is_bytes; /* else a number */
  const uint8_t *bytes;
  size_t size;
  uint64_t value;
} sp_pprof_field;

typedef struct sp_pprof_fields {
  const uint8_t *at;
  const uint8_t *end;
  bool broken;
} sp_pprof_fields;

static inline sp_pprof_fields sp_pprof_fields_of(const void *bytes,
                                                 size_t size) {
  const uint8_t *at = bytes;

  return (sp_pprof_fields){.at = at, .end = at + size};
}

/* False at the end, and at what is no protobuf: then `broken` is set. */
bool sp_pprof_fields_next(sp_pprof_fields *fields, sp_pprof_field *out);

/* One number of a packed field; false at the end or where it is broken. */
bool sp_pprof_fields_number(sp_pprof_fields *fields, uint64_t *out);

#endif
