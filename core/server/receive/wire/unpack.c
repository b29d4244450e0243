#include "unpack.h"

#include <strings.h>
#include <zlib.h>

#define UNPACK_STEP_BYTES ((size_t)64 << 10)
#define UNPACK_WINDOW     16 /* makes inflateInit2() accept gzip only */

static voidpf unpack_alloc(voidpf mem, uInt items, uInt size) {
  return sp_mem_new(mem, (size_t)items * size);
}

static void unpack_free(voidpf mem, voidpf old) {
  sp_mem_free(mem, old);
}

sp_unpack_encoding sp_unpack_encoding_of(const sp_http_request *request) {
  const char *encoding = sp_http_header(request, "Content-Encoding");

  if (!encoding || !*encoding || strcasecmp(encoding, "identity") == 0)
    return SP_UNPACK_IDENTITY;
  return strcasecmp(encoding, "gzip") == 0 ? SP_UNPACK_GZIP : SP_UNPACK_OTHER;
}

bool sp_unpack_is_gzip(sp_view bytes) {
  return bytes.size >= 2 && (uint8_t)bytes.bytes[0] == 0x1f &&
         (uint8_t)bytes.bytes[1] == 0x8b;
}

static sp_unpack_end unpack_end(int answer) {
  if (answer == Z_STREAM_END)
    return SP_UNPACK_WHOLE;
  return answer == Z_OK || answer == Z_BUF_ERROR ? SP_UNPACK_CUT
                                                 : SP_UNPACK_BROKEN;
}

static spanprof_status unpack_members(z_stream *z, sp_buffer *into, size_t max,
                                      sp_unpack_end *end) {
  const size_t before = into->size;
  int answer;

  for (;;) {
    if (!sp_buffer_reserve(into, UNPACK_STEP_BYTES))
      return SPANPROF_ERR_NOMEM;
    z->next_out = (Bytef *)into->data + into->size;
    z->avail_out = (uInt)UNPACK_STEP_BYTES;
    answer = inflate(z, Z_NO_FLUSH);
    into->size += UNPACK_STEP_BYTES - z->avail_out;
    if (answer == Z_MEM_ERROR)
      return SPANPROF_ERR_NOMEM;
    if (into->size - before > max) {
      *end = SP_UNPACK_LARGE;
      return SPANPROF_OK;
    }
    if (answer == Z_STREAM_END && z->avail_in) {
      inflateReset(z);
      continue;
    }
    if (answer != Z_OK || (!z->avail_in && z->avail_out)) {
      *end = unpack_end(answer);
      return SPANPROF_OK;
    }
  }
}

spanprof_status sp_unpack_gzip(sp_view bytes, sp_buffer *into, size_t max,
                               sp_unpack_end *end) {
  z_stream z = {.zalloc = unpack_alloc,
                .zfree = unpack_free,
                .opaque = (voidpf)(uintptr_t)into->mem};
  spanprof_status st;

  *end = SP_UNPACK_LARGE;
  if (bytes.size > UINT32_MAX)
    return SPANPROF_OK;
  if (inflateInit2(&z, MAX_WBITS + UNPACK_WINDOW) != Z_OK)
    return SPANPROF_ERR_NOMEM;
  z.next_in = (Bytef *)(uintptr_t)bytes.bytes;
  z.avail_in = (uInt)bytes.size;
  st = unpack_members(&z, into, max, end);
  inflateEnd(&z);
  return st;
}
