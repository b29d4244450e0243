/* Unpack gzip that anybody may have sent: all members, nothing behind them. */
#ifndef SP_UNPACK_H
#define SP_UNPACK_H

#include "../../util/buffer.h"
#include "view.h"

typedef enum sp_unpack_end {
  SP_UNPACK_WHOLE,
  SP_UNPACK_CUT,
  SP_UNPACK_BROKEN,
  SP_UNPACK_LARGE, /* more than `max` bytes */
} sp_unpack_end;

bool sp_unpack_is_gzip(sp_view bytes);

/* Append to `into`. SPANPROF_ERR_NOMEM alone is a failure. */
spanprof_status sp_unpack_gzip(sp_view bytes, sp_buffer *into, size_t max,
                               sp_unpack_end *end);

#endif
