#include "raw_profile.h"

#include "unpack.h"

#define UNPACK_HEADER_BYTES                         \
  ((size_t)10) /* of gzip, read before it is judged \
                */

spanprof_status sp_raw_unpack(sp_view bytes, sp_buffer *into, size_t max,
                              sp_view *out, bool *large, sp_refusal *refusal) {
  sp_unpack_end end = SP_UNPACK_WHOLE;
  spanprof_status st = SPANPROF_OK;

  *out = bytes;
  *large = bytes.size > max;
  if (*large)
    return SPANPROF_OK;
  if (!bytes.size)
    return sp_refuse(refusal, SP_REFUSAL_BROKEN, "gzip reset: EOF");
  if (bytes.size < UNPACK_HEADER_BYTES)
    return sp_refuse(refusal, SP_REFUSAL_BROKEN, "gzip reset: unexpected EOF");
  if (!sp_unpack_is_gzip(bytes))
    return SPANPROF_OK;
  st = sp_unpack_gzip(bytes, into, max, &end);
  *out = sp_view_of(into->data, into->size);
  *large = end == SP_UNPACK_LARGE;
  if (st || end == SP_UNPACK_WHOLE || *large)
    return st;
  return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   end == SP_UNPACK_CUT ? "copy to buffer: unexpected EOF"
                                        : "copy to buffer: gzip: invalid data");
}
