/* Reads protobuf messages field by field, without building objects. The input
 * is untrusted: https://protobuf.dev/programming-guides/encoding/. */
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
  SP_WIRE_CUT,        /* the message ends inside a field */
  SP_WIRE_BAD_TYPE,   /* unknown wire type */
  SP_WIRE_END_GROUP,  /* the end of a group that has not begun */
  SP_WIRE_BAD_NUMBER, /* field 0, or a number of more than 64 bits */
  SP_WIRE_WRONG_TYPE  /* a known field with another wire type */
} sp_wire_fault;

typedef struct sp_wire {
  const uint8_t *at;
  const uint8_t *end;
  sp_wire_fault fault;
  uint32_t fault_type;     /* set for SP_WIRE_BAD_TYPE and SP_WIRE_WRONG_TYPE */
  const char *fault_field; /* name of the field, for SP_WIRE_WRONG_TYPE */
} sp_wire;

typedef struct sp_wire_field {
  uint32_t number;
  sp_wire_type type;
  uint64_t value; /* set if the field is a number */
  sp_view bytes;
} sp_wire_field;

/* A scalar field of a message, and the struct member that receives it. */
typedef struct sp_wire_scalar {
  uint32_t number;
  uint32_t offset; /* offset of the member, which has 64 bits */
  const char *name;
} sp_wire_scalar;

static inline sp_wire sp_wire_of(sp_view bytes) {
  const uint8_t *at = (const uint8_t *)bytes.bytes;

  return (sp_wire){.at = at, .end = at ? at + bytes.size : at};
}

/* Read the next field; groups are skipped. Returns false at the end of the
 * message or if a fault is found. */
bool sp_wire_next(sp_wire *wire, sp_wire_field *out);

/* Returns true if `field` has this type; otherwise sets the fault. */
bool sp_wire_require(sp_wire *wire, const sp_wire_field *field,
                     sp_wire_type type, const char *name);

/* Count the numbers of a repeated field, packed or not, or append them to
 * `out`, which has enough capacity. Returns false if a fault is found. */
bool sp_wire_count(sp_wire *wire, const sp_wire_field *field, const char *name,
                   size_t *count);
bool sp_wire_numbers(sp_wire *wire, const sp_wire_field *field, uint64_t *out,
                     size_t *count);

/* Set the members of `out` from the fields of the message that `scalars` lists.
 * Other fields are skipped. */
bool sp_wire_scalars(sp_wire *wire, sp_view message,
                     const sp_wire_scalar *scalars, size_t count, void *out);

/* Read one number of a packed field. Returns false at the end of the field or
 * if a fault is found. */
bool sp_wire_number(sp_wire *wire, uint64_t *out);

/* Write the tag of a field, or a whole field of bytes. */
void sp_wire_put_tag(sp_buffer *out, uint32_t number, sp_wire_type type);
void sp_wire_put_bytes(sp_buffer *out, uint32_t number, const void *bytes,
                       size_t size);

#endif
