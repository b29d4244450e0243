#include "pprof_fields.h"

#include <string.h>

/* Wire types. */
#define FIELDS_WIRE_VARINT  0
#define FIELDS_WIRE_FIXED64 1
#define FIELDS_WIRE_BYTES   2
#define FIELDS_WIRE_FIXED32 5

#define FIELDS_VARINT_MAX 10 /* bytes of 64 bits in sevens */

bool sp_pprof_fields_number(sp_pprof_fields *fields, uint64_t *out) {
  const uint8_t *p = fields->at;
  uint32_t shift;

  *out = 0;
  if (p == fields->end)
    return false;
  for (shift = 0; shift < FIELDS_VARINT_MAX * 7 && p < fields->end;
       shift += 7) {
    *out |= (uint64_t)(*p & 0x7f) << shift;
    if (!(*p++ & 0x80)) {
      fields->at = p;
      return true;
    }
  }
  fields->broken = true;
  return false;
}

/* `size` bytes that belong to the field. */
static bool fields_take(sp_pprof_fields *fields, uint64_t size,
                        sp_pprof_field *out) {
  if (size > (uint64_t)(fields->end - fields->at)) {
    fields->broken = true;
    return false;
  }
  out->bytes = fields->at;
  out->size = (size_t)size;
  fields->at += size;
  return true;
}

bool sp_pprof_fields_next(sp_pprof_fields *fields, sp_pprof_field *out) {
  uint64_t tag, size;

  memset(out, 0, sizeof *out);
  if (!sp_pprof_fields_number(fields, &tag))
    return false;
  out->number = (uint32_t)(tag >> 3);
  if (tag >> 3 == 0 || tag >> 32) {
    fields->broken = true;
    return false;
  }
  switch (tag & 7) {
  case FIELDS_WIRE_VARINT:
    if (sp_pprof_fields_number(fields, &out->value))
      return true;
    break;
  case FIELDS_WIRE_BYTES:
    out->is_bytes = true;
    if (sp_pprof_fields_number(fields, &size) && fields_take(fields, size, out))
      return true;
    break;
  case FIELDS_WIRE_FIXED64:
    if (fields_take(fields, 8, out)) {
      memcpy(&out->value, out->bytes, 8);
      return true;
    }
    break;
  case FIELDS_WIRE_FIXED32:
    if (fields_take(fields, 4, out)) {
      memcpy(&out->value, out->bytes, 4);
      return true;
    }
    break;
  }
  fields->broken = true;
  return false;
}
