/* gzip without compression, for content that is already compressed, because the
 * server requires gzip. */
#ifndef SP_GZIP_STORE_H
#define SP_GZIP_STORE_H

#include "util/memory/buffer.h"

/* Append `bytes` as a gzip member of stored blocks (RFC 1952; RFC 1951, 3.2.4).
 */
void sp_gzip_store(sp_buffer *out, const void *bytes, size_t size);

#endif
