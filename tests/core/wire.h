/* Writes protobuf field by field. This includes messages that no generated code
 * would write. Source: https://protobuf.dev/programming-guides/encoding/. */
#ifndef WIRE_H
#define WIRE_H

#include <stdint.h>

#include "check.h"

#define WIRE_BYTES 2048

typedef struct wire {
  uint8_t bytes[WIRE_BYTES];
  size_t size;
} wire;

static inline void wire_byte(wire *w, uint8_t byte) {
  CHECK(w->size < WIRE_BYTES);
  w->bytes[w->size++] = byte;
}

static inline void wire_varint(wire *w, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    wire_byte(w, (uint8_t)(value | 0x80));
  wire_byte(w, (uint8_t)value);
}

static inline void wire_number(wire *w, uint32_t field, uint64_t value) {
  wire_varint(w, field << 3);
  wire_varint(w, value);
}

static inline void wire_data(wire *w, uint32_t field, const void *bytes,
                             size_t size) {
  size_t i;

  wire_varint(w, (field << 3) | 2);
  wire_varint(w, size);
  for (i = 0; i < size; i++)
    wire_byte(w, ((const uint8_t *)bytes)[i]);
}

static inline void wire_text(wire *w, uint32_t field, const char *text) {
  wire_data(w, field, text, strlen(text));
}

static inline void wire_message(wire *w, uint32_t field, const wire *message) {
  wire_data(w, field, message->bytes, message->size);
}

#endif
