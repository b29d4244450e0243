/* Decompresses a gzip file in memory. */
#ifndef SP_GUNZIP_H
#define SP_GUNZIP_H

#include "util/memory/buffer.h"

/* Do the bytes begin like a gzip file (RFC 1952, 2.3.1)? */
bool sp_gunzip_is(const void *bytes, size_t size);

/* Append the decompressed data of all members of `bytes`. Returns
 * SPANPROF_ERR_FORMAT and sets a message if `bytes` is broken or truncated,
 * SPANPROF_ERR_LIMIT and sets a message if the data is longer than `max`, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_gunzip(sp_buffer *out, const void *bytes, size_t size,
                          size_t max);

#endif
