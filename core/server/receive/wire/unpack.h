/* Decompresses untrusted gzip: all of its members. Bytes after the last member
 * are an error. */
#ifndef SP_UNPACK_H
#define SP_UNPACK_H

#include "server/http/message/http.h"
#include "util/memory/buffer.h"
#include "util/text/view.h"

typedef enum sp_unpack_end {
  SP_UNPACK_WHOLE,
  SP_UNPACK_CUT,
  SP_UNPACK_BROKEN,
  SP_UNPACK_LARGE, /* decompresses to more than `max` bytes */
} sp_unpack_end;

/* The Content-Encoding of a body. */
typedef enum sp_unpack_encoding {
  SP_UNPACK_IDENTITY,
  SP_UNPACK_GZIP,
  SP_UNPACK_OTHER /* unsupported: answer 415 and SP_UNPACK_UNSUPPORTED */
} sp_unpack_encoding;

#define SP_UNPACK_UNSUPPORTED "Content-Encoding is neither gzip nor identity"

sp_unpack_encoding sp_unpack_encoding_of(const sp_http_request *request);

bool sp_unpack_is_gzip(sp_view bytes);

/* Append the decompressed bytes to `into`, and set *end to the result. The only
 * error status is SPANPROF_ERR_NOMEM. */
spanprof_status sp_unpack_gzip(sp_view bytes, sp_buffer *into, size_t max,
                               sp_unpack_end *end);

#endif
