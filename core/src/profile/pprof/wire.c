#include "wire.h"

#include <string.h>

#define WIRE_GROUP_START 3
#define WIRE_GROUP_END   4

static bool wire_fault(sp_wire *wire, sp_wire_fault fault, uint32_t type) {
  wire->fault = fault;
  wire->fault_type = type;
  return false;
}

static bool wire_long_varint(sp_wire *wire, uint64_t *out) {
  switch (sp_varint_get(&wire->at, wire->end, out)) {
  case SP_VARINT_WHOLE:
    return true;
  case SP_VARINT_CUT:
    return wire_fault(wire, SP_WIRE_CUT, 0);
  case SP_VARINT_LONG:
    break;
  }
  return wire_fault(wire, SP_WIRE_BAD_NUMBER, 0);
}

/* Most numbers of a profile have one byte; this branch is inlined for them. */
static inline bool wire_varint(sp_wire *wire, uint64_t *out) {
  if (wire->at == wire->end || *wire->at & 0x80)
    return wire_long_varint(wire, out);
  *out = *wire->at++;
  return true;
}

bool sp_wire_number(sp_wire *wire, uint64_t *out) {
  return wire->at != wire->end && wire_varint(wire, out);
}

static bool wire_read(sp_wire *wire, uint64_t size, sp_view *out) {
  if (size > (uint64_t)(wire->end - wire->at))
    return wire_fault(wire, SP_WIRE_CUT, 0);
  *out = sp_view_of(wire->at, (size_t)size);
  wire->at += size;
  return true;
}

/* Read one tag and its value. */
static bool wire_field(sp_wire *wire, sp_wire_field *out, uint32_t *type) {
  uint64_t tag, size;
  uint32_t word;

  if (!wire_varint(wire, &tag))
    return false;
  *type = (uint32_t)(tag & 7);
  if (tag >> 3 == 0 || tag >> 32)
    return wire_fault(wire, SP_WIRE_BAD_NUMBER, 0);
  *out = (sp_wire_field){.number = (uint32_t)(tag >> 3),
                         .type = (sp_wire_type)*type};
  switch (*type) {
  case SP_WIRE_NUMBER:
    return wire_varint(wire, &out->value);
  case SP_WIRE_BYTES:
    return wire_varint(wire, &size) && wire_read(wire, size, &out->bytes);
  case SP_WIRE_FIXED64:
    if (!wire_read(wire, 8, &out->bytes))
      return false;
    memcpy(&out->value, out->bytes.bytes, 8);
    return true;
  case SP_WIRE_FIXED32:
    if (!wire_read(wire, 4, &out->bytes))
      return false;
    memcpy(&word, out->bytes.bytes, 4);
    out->value = word;
    return true;
  case WIRE_GROUP_START:
  case WIRE_GROUP_END:
    return true;
  }
  return wire_fault(wire, SP_WIRE_BAD_TYPE, *type);
}

bool sp_wire_next(sp_wire *wire, sp_wire_field *out) {
  size_t depth = 0;
  uint32_t type;

  while (!wire->fault && wire->at != wire->end) {
    if (!wire_field(wire, out, &type))
      return false;
    if (type == WIRE_GROUP_START) {
      depth++;
    } else if (type == WIRE_GROUP_END) {
      if (!depth)
        return wire_fault(wire, SP_WIRE_END_GROUP, type);
      depth--;
    } else if (!depth) {
      return true;
    }
  }
  return depth && !wire->fault ? wire_fault(wire, SP_WIRE_CUT, 0) : false;
}

bool sp_wire_require(sp_wire *wire, const sp_wire_field *field,
                     sp_wire_type type, const char *name) {
  if (field->type == type)
    return true;
  wire->fault_field = name;
  return wire_fault(wire, SP_WIRE_WRONG_TYPE, (uint32_t)field->type);
}

bool sp_wire_count(sp_wire *wire, const sp_wire_field *field, const char *name,
                   size_t *count) {
  size_t i;

  if (field->type == SP_WIRE_NUMBER || field->type == SP_WIRE_FIXED64) {
    ++*count;
    return true;
  }
  if (!sp_wire_require(wire, field, SP_WIRE_BYTES, name))
    return false;
  for (i = 0; i < field->bytes.size; i++)
    *count += !((uint8_t)field->bytes.bytes[i] & 0x80);
  return true;
}

bool sp_wire_numbers(sp_wire *wire, const sp_wire_field *field, uint64_t *out,
                     size_t *count) {
  sp_wire packed = sp_wire_of(field->bytes);
  uint64_t number;

  if (field->type != SP_WIRE_BYTES) {
    out[(*count)++] = field->value;
    return true;
  }
  /* The numbers were counted before, so `out` has enough capacity for them. */
  while (sp_wire_number(&packed, &number))
    out[(*count)++] = number;
  return packed.fault ? wire_fault(wire, packed.fault, 0) : true;
}

bool sp_wire_scalars(sp_wire *wire, sp_view message,
                     const sp_wire_scalar *scalars, size_t count, void *out) {
  sp_wire inner = sp_wire_of(message);
  sp_wire_field field;
  size_t i;

  while (sp_wire_next(&inner, &field)) {
    for (i = 0; i < count && scalars[i].number != field.number; i++)
      ;
    if (i == count)
      continue;
    if (!sp_wire_require(&inner, &field, SP_WIRE_NUMBER, scalars[i].name))
      break;
    memcpy((char *)out + scalars[i].offset, &field.value, sizeof field.value);
  }
  if (!inner.fault)
    return true;
  wire->fault = inner.fault;
  wire->fault_type = inner.fault_type;
  wire->fault_field = inner.fault_field;
  return false;
}

void sp_wire_put_tag(sp_buffer *out, uint32_t number, sp_wire_type type) {
  sp_varint_append(out, (uint64_t)number << 3 | type);
}

void sp_wire_put_bytes(sp_buffer *out, uint32_t number, const void *bytes,
                       size_t size) {
  sp_wire_put_tag(out, number, SP_WIRE_BYTES);
  sp_varint_append(out, size);
  sp_buffer_append(out, bytes, size);
}
