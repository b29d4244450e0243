/* The series of a profile as pprof comments, "label NAME=VALUE" for each label.
 * `spanprof upload` reads the series of a file from these comments. */
#ifndef SP_SERIES_COMMENTS_H
#define SP_SERIES_COMMENTS_H

#include "series.h"
#include "util/memory/buffer.h"

/* Append the comments to `out` as a gzip member of their own. This member must
 * follow the gzip member of a profile whose string table has `text_count`
 * texts. Both together are one profile, because concatenated protobuf messages
 * are one message, and concatenated gzip members are one stream (protobuf.dev,
 * programming-guides/encoding, "Last One Wins"; RFC 1952, 2.2). */
void sp_series_comments_write(const sp_series *series, uint32_t text_count,
                              sp_buffer *out);

/* Read the series from the comments of a profile. The caller disposes of `out`.
 * Returns SPANPROF_ERR_FORMAT if the comments have no series, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_series_comments_read(const char *const *comments,
                                        size_t count, const sp_mem *mem,
                                        sp_series *out);

#endif
