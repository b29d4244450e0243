/* Writes a gzip file in memory. */
#ifndef SP_GZIP_STREAM_H
#define SP_GZIP_STREAM_H

#include <zlib.h>

#include "util/memory/buffer.h"

typedef struct sp_gzip {
  z_stream z;
  sp_buffer out;
  unsigned char *in; /* input that is collected to call zlib less often */
  size_t in_bytes;
  bool open;
} sp_gzip;

/* Open a stream with compression level 1, which on profiles is three times as
 * fast as level 6; its result is 12 % larger. After SPANPROF_ERR_NOMEM there is
 * nothing to dispose of. */
spanprof_status sp_gzip_open(sp_gzip *gzip, const sp_mem *mem);

/* Add bytes. After SPANPROF_ERR_NOMEM, the caller may only call
 * sp_gzip_dispose(). */
spanprof_status sp_gzip_write(sp_gzip *gzip, const void *bytes, size_t size);

/* Finish the file and return its bytes, which the caller frees with the
 * stream's sp_mem. The stream is then ready for the next file. After
 * SPANPROF_ERR_NOMEM, the caller may only call sp_gzip_dispose(). */
spanprof_status sp_gzip_finish(sp_gzip *gzip, void **bytes, size_t *size);

void sp_gzip_dispose(sp_gzip *gzip); /* `gzip` may be all zero */

#endif
