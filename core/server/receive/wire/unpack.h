/* Unpack gzip that anybody may have sent: all members, nothing behind them. */
#ifndef SP_UNPACK_H
#define SP_UNPACK_H

#include "server/http/message/http.h"
#include "util/memory/buffer.h"
#include "util/text/view.h"

typedef enum sp_unpack_end {
  SP_UNPACK_WHOLE,
  SP_UNPACK_CUT,
  SP_UNPACK_BROKEN,
  SP_UNPACK_LARGE, /* more than `max` bytes */
} sp_unpack_end;

/* The Content-Encoding of a body. */
typedef enum sp_unpack_encoding {
  SP_UNPACK_IDENTITY,
  SP_UNPACK_GZIP,
  SP_UNPACK_OTHER /* 415, SP_UNPACK_TAKES */
} sp_unpack_encoding;

#define SP_UNPACK_TAKES "Content-Encoding is neither gzip nor identity"

sp_unpack_encoding sp_unpack_encoding_of(const sp_http_request *request);

bool sp_unpack_is_gzip(sp_view bytes);

/* Append to `into`. SPANPROF_ERR_NOMEM alone is a failure. */
spanprof_status sp_unpack_gzip(sp_view bytes, sp_buffer *into, size_t max,
                               sp_unpack_end *end);

#endif
