#include "gunzip.h"

#include <string.h>
#include <zlib.h>

#include "util/system/status.h"

#define GUNZIP_STEP_BYTES ((size_t)64 << 10)
#define GUNZIP_WITH_FRAME 16 /* zlib.h, inflateInit2(): accept only gzip */

static voidpf gunzip_alloc(voidpf mem, uInt items, uInt size) {
  return sp_mem_new(mem, (size_t)items * size);
}

static void gunzip_free(voidpf mem, voidpf old) {
  sp_mem_free(mem, old);
}

bool sp_gunzip_is(const void *bytes, size_t size) {
  const unsigned char *p = bytes;

  return size >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

/* Decompress at most GUNZIP_STEP_BYTES more. *answer is zlib's result. */
static spanprof_status gunzip_step(z_stream *z, sp_buffer *out, size_t max,
                                   int *answer) {
  spanprof_status st;

  if (out->size >= max)
    return sp_fail(SPANPROF_ERR_LIMIT, "unpacks to more than %zu MiB",
                   max >> 20);
  st = sp_mem_reserve(out->mem, (void **)&out->data, &out->capacity,
                      out->size + GUNZIP_STEP_BYTES, 1);
  if (st)
    return st;
  z->next_out = (Bytef *)out->data + out->size;
  z->avail_out = (uInt)GUNZIP_STEP_BYTES;
  *answer = inflate(z, Z_NO_FLUSH);
  out->size += GUNZIP_STEP_BYTES - z->avail_out;
  if (*answer == Z_MEM_ERROR)
    return SPANPROF_ERR_NOMEM;
  if (*answer == Z_BUF_ERROR ||
      (*answer == Z_OK && !z->avail_in && z->avail_out))
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "is cut off: its gzip data ends too early");
  if (*answer != Z_OK && *answer != Z_STREAM_END)
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "is broken: its gzip data cannot be unpacked");
  return SPANPROF_OK;
}

spanprof_status sp_gunzip(sp_buffer *out, const void *bytes, size_t size,
                          size_t max) {
  z_stream z = {
      .zalloc = gunzip_alloc, .zfree = gunzip_free, .opaque = (voidpf)out->mem};
  spanprof_status st = SPANPROF_OK;
  int answer = Z_OK;

  if (size > UINT32_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT, "is larger than 4 GiB");
  if (inflateInit2(&z, MAX_WBITS + GUNZIP_WITH_FRAME) != Z_OK)
    return SPANPROF_ERR_NOMEM;
  z.next_in = (Bytef *)bytes;
  z.avail_in = (uInt)size;
  while (!st) {
    st = gunzip_step(&z, out, max, &answer);
    if (st || answer != Z_STREAM_END)
      continue;
    /* Another member follows, as `cat a.gz b.gz` produces. Any other bytes are
     * padding, which gzip(1) also ignores. */
    if (!sp_gunzip_is(z.next_in, z.avail_in))
      break;
    inflateReset(&z);
  }
  inflateEnd(&z);
  return st;
}
