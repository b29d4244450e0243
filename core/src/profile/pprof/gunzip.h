/* Unpack a gzip file in memory. */
#ifndef SP_GUNZIP_H
#define SP_GUNZIP_H

#include "util/memory/buffer.h"

/* Whether the bytes begin as gzip does (RFC 1952, 2.3.1). */
bool sp_gunzip_is(const void *bytes, size_t size);

/* Append what all members of `bytes` unpack to. SPANPROF_ERR_FORMAT: broken or
 * cut; SPANPROF_ERR_LIMIT: more than `max` bytes; both with a sentence.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_gunzip(sp_buffer *out, const void *bytes, size_t size,
                          size_t max);

#endif
