/* Writes a gzip file in memory. */
#ifndef SP_GZIP_STREAM_H
#define SP_GZIP_STREAM_H

#include <zlib.h>

#include "util/memory/buffer.h"

typedef struct sp_gzip {
  z_stream z;
  sp_buffer out;
  unsigned char *in; /* input collected for fewer, larger zlib calls */
  size_t in_bytes;
  bool open;
} sp_gzip;

/* Open a stream with compression level 1: 12 % larger than level 6 and three
 * times as fast on profiles. SPANPROF_ERR_NOMEM: nothing to dispose of. */
spanprof_status sp_gzip_open(sp_gzip *gzip, const sp_mem *mem);

/* Add bytes. SPANPROF_ERR_NOMEM: only sp_gzip_dispose() may follow. */
spanprof_status sp_gzip_write(sp_gzip *gzip, const void *bytes, size_t size);

/* Finish the file and transfer its bytes, which the sp_mem owns. The stream is
 * then ready for the next file. SPANPROF_ERR_NOMEM: only sp_gzip_dispose() may
 * follow. */
spanprof_status sp_gzip_finish(sp_gzip *gzip, void **bytes, size_t *size);

void sp_gzip_dispose(sp_gzip *gzip); /* may be all zero */

#endif
