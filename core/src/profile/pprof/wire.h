/* Protobuf messages field by field, without building anything. The bytes may
 * come from anybody: https://protobuf.dev/programming-guides/encoding/. */
#ifndef SP_WIRE_H
#define SP_WIRE_H

#include "util/text/view.h"
#include "varint.h"

typedef enum sp_wire_type {
  SP_WIRE_NUMBER = 0,
  SP_WIRE_FIXED64 = 1,
  SP_WIRE_BYTES = 2,
  SP_WIRE_FIXED32 = 5
} sp_wire_type;

typedef enum sp_wire_fault {
  SP_WIRE_SOUND,
  SP_WIRE_CUT,        /* it ends in the middle of a field */
  SP_WIRE_BAD_TYPE,   /* a wire type that does not exist */
  SP_WIRE_END_GROUP,  /* the end of a group that has not begun */
  SP_WIRE_BAD_NUMBER, /* field 0, a number of more than 64 bits */
  SP_WIRE_WRONG_TYPE  /* a known field with another wire type */
} sp_wire_fault;

typedef struct sp_wire {
  const uint8_t *at;
  const uint8_t *end;
  sp_wire_fault fault;
  uint32_t fault_type;     /* wire type, of the two faults that name one */
  const char *fault_field; /* of SP_WIRE_WRONG_TYPE */
} sp_wire;

typedef struct sp_wire_field {
  uint32_t number;
  sp_wire_type type;
  uint64_t value; /* of a number */
  sp_view bytes;
} sp_wire_field;

/* A scalar field of a message and its place in a struct. */
typedef struct sp_wire_scalar {
  uint32_t number;
  uint32_t offset; /* of a 64-bit member */
  const char *name;
} sp_wire_scalar;

static inline sp_wire sp_wire_of(sp_view bytes) {
  const uint8_t *at = (const uint8_t *)bytes.bytes;

  return (sp_wire){.at = at, .end = at ? at + bytes.size : at};
}

/* False at the end and at a fault; groups are skipped. */
bool sp_wire_next(sp_wire *wire, sp_wire_field *out);

/* False, with the fault set, unless `field` has the type. */
bool sp_wire_require(sp_wire *wire, const sp_wire_field *field,
                     sp_wire_type type, const char *name);

/* Numbers of a repeated field, packed or not: how many; and append them to
 * `out`, which has room. False: a fault. */
bool sp_wire_count(sp_wire *wire, const sp_wire_field *field, const char *name,
                   size_t *count);
bool sp_wire_numbers(sp_wire *wire, const sp_wire_field *field, uint64_t *out,
                     size_t *count);

/* Fill 64-bit members of `out` from the message; other fields are skipped. */
bool sp_wire_scalars(sp_wire *wire, sp_view message,
                     const sp_wire_scalar *scalars, size_t count, void *out);

/* One number of a packed field. False at the end and at a fault. */
bool sp_wire_number(sp_wire *wire, uint64_t *out);

/* Write the tag of a field, or a field of bytes. */
void sp_wire_put_tag(sp_buffer *out, uint32_t number, sp_wire_type type);
void sp_wire_put_bytes(sp_buffer *out, uint32_t number, const void *bytes,
                       size_t size);

#endif
