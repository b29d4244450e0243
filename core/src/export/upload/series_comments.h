/* A profile's series as pprof comments, "label NAME=VALUE" each. `spanprof
 * upload` reads the series of a file from them. */
#ifndef SP_SERIES_COMMENTS_H
#define SP_SERIES_COMMENTS_H

#include "series.h"
#include "util/memory/buffer.h"

/* Append the comments to `out` as a separate gzip member. It must follow the
 * gzip member of a profile with `text_count` texts: concatenated protobuf
 * messages are one message, and concatenated gzip members one stream
 * (protobuf.dev, programming-guides/encoding, "Last One Wins"; RFC 1952, 2.2).
 */
void sp_series_comments_write(const sp_series *series, uint32_t text_count,
                              sp_buffer *out);

/* Read the series from a profile's comments. The caller disposes of it.
 * SPANPROF_ERR_FORMAT: the comments have no series. SPANPROF_ERR_NOMEM. */
spanprof_status sp_series_comments_read(const char *const *comments,
                                        size_t count, const sp_mem *mem,
                                        sp_series *out);

#endif
