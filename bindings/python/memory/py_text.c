#include "py_text.h"

#include <string.h>

#include "util/memory/hash.h"

#define TEXT_HASH_ENDS 32

/* The address of PyUnicode_Type, stored next to other data of the signal
 * handler, so that the signal handler does not read it from the GOT, which is
 * in another page. */
SP_HANDLER_DATA static PyTypeObject *text_type = &PyUnicode_Type;

SP_HANDLER_CODE bool py_sp_text_read(py_sp_probe *probe, const PyObject *object,
                                     py_sp_text *out) {
  const PyASCIIObject *ascii = (const PyASCIIObject *)object;

  if (probe && (((uintptr_t)object & 7) != 0 ||
                !py_sp_probe_readable(probe, object, sizeof *ascii)))
    return false;
  if (Py_TYPE(object) != text_type || !ascii->state.compact)
    return false;
  out->length = (size_t)ascii->length;
  out->kind = (int)ascii->state.kind;
  out->ascii = ascii->state.ascii;
  out->data = ascii->state.ascii
                  ? (const void *)(ascii + 1)
                  : (const void *)((const PyCompactUnicodeObject *)object + 1);
  if (out->kind != 1 && out->kind != 2 && out->kind != 4)
    return false;
  if (out->length > PY_SSIZE_T_MAX / 4)
    return false;
  return !probe || out->length == 0 ||
         py_sp_probe_readable(probe, out->data,
                              out->length * (size_t)out->kind);
}

SP_HANDLER_RARE static uint32_t character_at(const py_sp_text *text, size_t i) {
  switch (text->kind) {
  case 1:
    return ((const uint8_t *)text->data)[i];
  case 2:
    return ((const uint16_t *)text->data)[i];
  default:
    return ((const uint32_t *)text->data)[i];
  }
}

/* Encode a character as UTF-8. Returns the number of bytes. A lone surrogate
 * becomes three bytes, which the core replaces. */
SP_HANDLER_RARE static size_t character_encode(uint32_t c, uint8_t bytes[4]) {
  if (c < 0x80) {
    bytes[0] = (uint8_t)c;
    return 1;
  }
  if (c < 0x800) {
    bytes[0] = (uint8_t)(0xc0 | c >> 6);
    bytes[1] = (uint8_t)(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    bytes[0] = (uint8_t)(0xe0 | c >> 12);
    bytes[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    bytes[2] = (uint8_t)(0x80 | (c & 0x3f));
    return 3;
  }
  bytes[0] = (uint8_t)(0xf0 | (c >> 18 & 7));
  bytes[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
  bytes[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
  bytes[3] = (uint8_t)(0x80 | (c & 0x3f));
  return 4;
}

SP_HANDLER_RARE size_t py_sp_text_copy(const py_sp_text *text, char *to,
                                       size_t max) {
  size_t count = 0, i;

  if (text->ascii) {
    count = text->length < max ? text->length : max;
    if (to)
      memcpy(to, text->data, count);
    return count;
  }
  for (i = 0; i < text->length; i++) {
    uint8_t bytes[4];
    size_t size = character_encode(character_at(text, i), bytes);

    if (size > max - count)
      break;
    if (to)
      memcpy(to + count, bytes, size);
    count += size;
  }
  return count;
}

SP_HANDLER_CODE uint64_t py_sp_text_hash(py_sp_probe *probe,
                                         const PyObject *object) {
  const PyASCIIObject *ascii = (const PyASCIIObject *)object;
  const char *data;
  py_sp_text text;
  size_t bytes;

  /* Without `probe`, the caller guarantees that the object is a str, so its
   * type is not tested: a usual sample reads only its stored hash. */
  if (!probe && ascii->hash != -1)
    return (uint64_t)ascii->hash;
  if (!py_sp_text_read(probe, object, &text))
    return 0;
  if (ascii->hash != -1)
    return (uint64_t)ascii->hash;
  data = text.data;
  bytes = text.length * (size_t)text.kind;
  if (bytes <= 2 * TEXT_HASH_ENDS)
    return sp_hash_bytes(data, bytes);
  return sp_hash_mix(
      sp_hash_mix(bytes, sp_hash_bytes(data, TEXT_HASH_ENDS)),
      sp_hash_bytes(data + bytes - TEXT_HASH_ENDS, TEXT_HASH_ENDS));
}
