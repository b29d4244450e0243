#include "gzip_store.h"

#include <zlib.h>

/* Maximum size of a stored block, whose length has 16 bits. */
#define GZIP_BLOCK_BYTES 65535

static void gzip_put_number(sp_buffer *out, uint32_t number, size_t bytes) {
  unsigned char little_endian[4];
  size_t i;

  for (i = 0; i < bytes; i++)
    little_endian[i] = (unsigned char)(number >> (8 * i));
  sp_buffer_append(out, little_endian, bytes);
}

void sp_gzip_store(sp_buffer *out, const void *bytes, size_t size) {
  /* The header: magic bytes, method deflate, no flags, no time, no extra flags,
   * operating system Unix. */
  static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  const unsigned char *p = bytes;
  size_t left = size;
  uLong check = crc32_z(crc32_z(0, NULL, 0), bytes, size);

  sp_buffer_append(out, head, sizeof head);
  do {
    size_t block = left < GZIP_BLOCK_BYTES ? left : GZIP_BLOCK_BYTES;

    left -= block;
    gzip_put_number(out, left == 0, 1);
    gzip_put_number(out, (uint32_t)block, 2);
    gzip_put_number(out, ~(uint32_t)block, 2);
    sp_buffer_append(out, p, block);
    p += block;
  } while (left);
  gzip_put_number(out, (uint32_t)check, 4);
  gzip_put_number(out, (uint32_t)size, 4);
}
