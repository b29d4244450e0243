#include "gzip_stream.h"

#include <string.h>

#define GZIP_LEVEL      1
#define GZIP_IN_BYTES   ((size_t)32 << 10)
#define GZIP_OUT_BYTES  ((size_t)64 << 10)
#define GZIP_WINDOW     15 /* zlib's default */
#define GZIP_WITH_FRAME 16 /* zlib.h, deflateInit2(): write a gzip header */

/* This level needs 384 KiB of state. With 8, zlib's default, the state is 128
 * KiB smaller, but a profile takes an eighth longer. */
#define GZIP_MEM_LEVEL 9

static voidpf gzip_alloc(voidpf mem, uInt items, uInt size) {
  return sp_mem_new(mem, (size_t)items * size);
}

static void gzip_free(voidpf mem, voidpf old) {
  sp_mem_free(mem, old);
}

spanprof_status sp_gzip_open(sp_gzip *gzip, const sp_mem *mem) {
  memset(gzip, 0, sizeof *gzip);
  sp_buffer_init(&gzip->out, mem);
  gzip->in = sp_mem_new(mem, GZIP_IN_BYTES);
  if (!gzip->in)
    return SPANPROF_ERR_NOMEM;
  gzip->z.zalloc = gzip_alloc;
  gzip->z.zfree = gzip_free;
  gzip->z.opaque = (voidpf)mem;
  if (deflateInit2(&gzip->z, GZIP_LEVEL, Z_DEFLATED,
                   GZIP_WINDOW + GZIP_WITH_FRAME, GZIP_MEM_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    sp_mem_free(mem, gzip->in);
    gzip->in = NULL;
    return SPANPROF_ERR_NOMEM;
  }
  gzip->open = true;
  return SPANPROF_OK;
}

/* Compress the collected input. The flush value Z_FINISH also ends the file. */
static spanprof_status gzip_deflate(sp_gzip *gzip, int flush) {
  sp_buffer *out = &gzip->out;
  int z = Z_OK;

  gzip->z.next_in = gzip->in;
  gzip->z.avail_in = (uInt)gzip->in_bytes;
  do {
    spanprof_status st =
        sp_mem_reserve(out->mem, (void **)&out->data, &out->capacity,
                       out->size + GZIP_OUT_BYTES, 1);

    if (st)
      return st;
    gzip->z.next_out = (Bytef *)out->data + out->size;
    gzip->z.avail_out = (uInt)GZIP_OUT_BYTES;
    z = deflate(&gzip->z, flush);
    out->size += GZIP_OUT_BYTES - gzip->z.avail_out;
  } while (gzip->z.avail_in || (flush == Z_FINISH && z != Z_STREAM_END));
  gzip->in_bytes = 0;
  return SPANPROF_OK;
}

spanprof_status sp_gzip_write(sp_gzip *gzip, const void *bytes, size_t size) {
  const char *from = bytes;

  while (size) {
    size_t some = sp_min_u64(size, GZIP_IN_BYTES - gzip->in_bytes);

    memcpy(gzip->in + gzip->in_bytes, from, some);
    gzip->in_bytes += some;
    from += some;
    size -= some;
    if (gzip->in_bytes == GZIP_IN_BYTES) {
      spanprof_status st = gzip_deflate(gzip, Z_NO_FLUSH);

      if (st)
        return st;
    }
  }
  return SPANPROF_OK;
}

spanprof_status sp_gzip_finish(sp_gzip *gzip, void **bytes, size_t *size) {
  spanprof_status st = gzip_deflate(gzip, Z_FINISH);
  void *exact;

  *bytes = NULL;
  *size = 0;
  if (st)
    return st;
  *size = gzip->out.size;
  /* The bytes may wait in a queue, so try to shrink their memory. */
  exact = sp_mem_resize(gzip->out.mem, gzip->out.data, gzip->out.size);
  *bytes = exact ? exact : gzip->out.data;
  gzip->out.data = NULL;
  sp_buffer_init(&gzip->out, gzip->out.mem);
  deflateReset(&gzip->z);
  return SPANPROF_OK;
}

void sp_gzip_dispose(sp_gzip *gzip) {
  if (!gzip->open)
    return;
  deflateEnd(&gzip->z);
  sp_mem_free(gzip->out.mem, gzip->in);
  sp_buffer_dispose(&gzip->out);
  gzip->open = false;
}
