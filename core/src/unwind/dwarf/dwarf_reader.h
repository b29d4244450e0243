/* A bounds-checked cursor over DWARF bytes. After a read beyond the end, all
 * reads fail and return zeros, so callers check `failed` once, at the end. */
#ifndef SP_DWARF_READER_H
#define SP_DWARF_READER_H

#include <string.h>

#include "util/base.h"

/* Pointer encodings. Source: Linux Standard Base Core 5.0, §10.5.1 "DWARF
 * Exception Header Encoding". */
#define SP_DWARF_PE_OMIT     0xff
#define SP_DWARF_PE_FORMAT   0x0f
#define SP_DWARF_PE_ABSPTR   0x00
#define SP_DWARF_PE_ULEB128  0x01
#define SP_DWARF_PE_UDATA2   0x02
#define SP_DWARF_PE_UDATA4   0x03
#define SP_DWARF_PE_UDATA8   0x04
#define SP_DWARF_PE_SLEB128  0x09
#define SP_DWARF_PE_SDATA2   0x0a
#define SP_DWARF_PE_SDATA4   0x0b
#define SP_DWARF_PE_SDATA8   0x0c
#define SP_DWARF_PE_APPLY    0x70
#define SP_DWARF_PE_PCREL    0x10
#define SP_DWARF_PE_INDIRECT 0x80

typedef struct sp_dwarf_reader {
  const uint8_t *at;
  const uint8_t *end;
  uint64_t vaddr; /* virtual address of `at` */
  bool failed;
} sp_dwarf_reader;

static inline sp_dwarf_reader sp_dwarf_reader_of(const uint8_t *bytes,
                                                 size_t size, uint64_t vaddr) {
  return (sp_dwarf_reader){.at = bytes, .end = bytes + size, .vaddr = vaddr};
}

static inline size_t sp_dwarf_remaining(const sp_dwarf_reader *reader) {
  return reader->failed ? 0 : (size_t)(reader->end - reader->at);
}

static inline void sp_dwarf_skip(sp_dwarf_reader *reader, uint64_t size) {
  if (size > sp_dwarf_remaining(reader)) {
    reader->failed = true;
    return;
  }
  reader->at += size;
  reader->vaddr += size;
}

static inline void sp_dwarf_copy(sp_dwarf_reader *reader, void *out,
                                 size_t size) {
  const uint8_t *from = reader->at;

  sp_dwarf_skip(reader, size);
  if (reader->failed)
    memset(out, 0, size);
  else
    memcpy(out, from, size);
}

static inline uint8_t sp_dwarf_u8(sp_dwarf_reader *reader) {
  uint8_t value;

  sp_dwarf_copy(reader, &value, sizeof value);
  return value;
}

static inline uint16_t sp_dwarf_u16(sp_dwarf_reader *reader) {
  uint16_t value;

  sp_dwarf_copy(reader, &value, sizeof value);
  return value;
}

static inline uint32_t sp_dwarf_u32(sp_dwarf_reader *reader) {
  uint32_t value;

  sp_dwarf_copy(reader, &value, sizeof value);
  return value;
}

static inline uint64_t sp_dwarf_u64(sp_dwarf_reader *reader) {
  uint64_t value;

  sp_dwarf_copy(reader, &value, sizeof value);
  return value;
}

static inline uint64_t sp_dwarf_uleb(sp_dwarf_reader *reader) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  do {
    byte = sp_dwarf_u8(reader);
    if (shift < 64)
      value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) && !reader->failed);
  return value;
}

static inline int64_t sp_dwarf_sleb(sp_dwarf_reader *reader) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  do {
    byte = sp_dwarf_u8(reader);
    if (shift < 64)
      value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) && !reader->failed);
  if (shift < 64 && (byte & 0x40))
    value |= ~UINT64_C(0) << shift;
  return (int64_t)value;
}

/* The value of an encoded pointer, without its base address. */
static inline uint64_t sp_dwarf_plain(sp_dwarf_reader *reader,
                                      uint8_t encoding) {
  switch (encoding & SP_DWARF_PE_FORMAT) {
  case SP_DWARF_PE_ABSPTR:
  case SP_DWARF_PE_UDATA8:
  case SP_DWARF_PE_SDATA8:
    return sp_dwarf_u64(reader);
  case SP_DWARF_PE_UDATA4:
    return sp_dwarf_u32(reader);
  case SP_DWARF_PE_SDATA4:
    return (uint64_t)(int64_t)(int32_t)sp_dwarf_u32(reader);
  case SP_DWARF_PE_UDATA2:
    return sp_dwarf_u16(reader);
  case SP_DWARF_PE_SDATA2:
    return (uint64_t)(int64_t)(int16_t)sp_dwarf_u16(reader);
  case SP_DWARF_PE_ULEB128:
    return sp_dwarf_uleb(reader);
  case SP_DWARF_PE_SLEB128:
    return (uint64_t)sp_dwarf_sleb(reader);
  default:
    reader->failed = true;
    return 0;
  }
}

/* Read an encoded pointer that is absolute or relative to its own address. Any
 * other kind sets `failed`. */
static inline uint64_t sp_dwarf_pointer(sp_dwarf_reader *reader,
                                        uint8_t encoding) {
  const uint64_t place = reader->vaddr;
  const uint8_t apply = encoding & (SP_DWARF_PE_APPLY | SP_DWARF_PE_INDIRECT);
  uint64_t value = sp_dwarf_plain(reader, encoding);

  if (apply == SP_DWARF_PE_PCREL)
    value += place;
  else if (apply != 0)
    reader->failed = true;
  return value;
}

#endif
