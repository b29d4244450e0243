/* A profile's series as pprof comments, "label NAME=VALUE" each: what a file
 * says of where it belongs, and `spanprof upload` reads. */
#ifndef SP_SERIES_COMMENTS_H
#define SP_SERIES_COMMENTS_H

#include "series.h"
#include "util/memory/buffer.h"

/* Append them to `out` as a gzip member of their own, to stand behind that of a
 * profile with `text_count` texts: messages of protobuf that stand one after
 * the other are one, and so are members of gzip (protobuf.dev,
 * programming-guides/encoding, "Last One Wins"; RFC 1952, 2.2). */
void sp_series_comments_write(const sp_series *series, uint32_t text_count,
                              sp_buffer *out);

/* The series that a profile's comments say. SPANPROF_ERR_FORMAT: they say none.
 * SPANPROF_ERR_NOMEM. Else the caller disposes of it. */
spanprof_status sp_series_comments_read(const char *const *comments,
                                        size_t count, const sp_mem *mem,
                                        sp_series *out);

#endif
