/* Lists of numbers as bytes: unsigned numbers as varints (seven bits in each
 * byte), signed ones in zigzag encoding. The bytes come from the store's file,
 * which may be damaged: a reader never reads beyond its end, and sets `broken`
 * instead. */
#ifndef SP_COLUMNS_H
#define SP_COLUMNS_H

#include <endian.h>
#include <string.h>

#include "profile/pprof/varint.h"
#include "util/memory/buffer.h"

static inline void sp_put_number(sp_buffer *out, uint64_t number) {
  uint8_t bytes[SP_VARINT_BYTES_MAX];

  if (number < 0x80 && out->capacity - out->size > 1 && out->capacity) {
    out->data[out->size++] = (char)number; /* most numbers are small */
    out->data[out->size] = '\0';
    return;
  }
  sp_buffer_append(out, bytes, (size_t)(sp_varint_put(bytes, number) - bytes));
}

static inline uint64_t sp_zigzag(int64_t number) {
  return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static inline void sp_put_signed(sp_buffer *out, int64_t number) {
  sp_put_number(out, sp_zigzag(number));
}

typedef struct sp_column_reader {
  const uint8_t *at;
  const uint8_t *end;
  bool broken;
} sp_column_reader;

static inline sp_column_reader sp_column_reader_of(const void *bytes,
                                                   size_t size) {
  const uint8_t *at = bytes;

  return (sp_column_reader){.at = at, .end = size ? at + size : at};
}

static inline uint64_t sp_get_number(sp_column_reader *reader) {
  uint64_t number = 0;
  unsigned shift;

  for (shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
    const uint8_t byte = *reader->at++;

    number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return number;
  }
  reader->broken = true;
  return 0;
}

static inline int64_t sp_get_signed(sp_column_reader *reader) {
  const uint64_t number = sp_get_number(reader);

  return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/* Read a count of items that have at least one byte each. Returns 0 and sets
 * `broken` if there are fewer bytes left. */
static inline size_t sp_get_count(sp_column_reader *reader) {
  const uint64_t count = sp_get_number(reader);

  if (count <= (uint64_t)(reader->end - reader->at))
    return (size_t)count;
  reader->broken = true;
  return 0;
}

/* Write or read a number as eight bytes, little-endian. */
static inline void sp_put_fixed(sp_buffer *out, uint64_t number) {
  const uint64_t ordered = htole64(number);

  sp_buffer_append(out, &ordered, sizeof ordered);
}

static inline uint64_t sp_get_fixed(sp_column_reader *reader) {
  uint64_t number = 0;

  if (reader->end - reader->at < 8) {
    reader->broken = true;
    return 0;
  }
  memcpy(&number, reader->at, 8);
  reader->at += 8;
  return le64toh(number);
}

/* Append the size of the columns, and then the columns compressed by zlib.
 * Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_columns_pack(sp_buffer *out, const sp_buffer *columns,
                                int level);

/* Replace *out by the uncompressed columns. Returns SPANPROF_ERR_FORMAT if the
 * bytes are damaged, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_columns_unpack(sp_buffer *out, const void *bytes,
                                  size_t size);

#endif
