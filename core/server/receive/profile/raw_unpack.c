#include "raw_profile.h"

#include "server/receive/wire/unpack.h"

#define UNPACK_LOOKED_AT 64

#define UNPACK_HEADER_BYTES ((size_t)10) /* bytes of a gzip header */

static const char *unpack_format(sp_view bytes) {
  const sp_view text = sp_view_trim(bytes);
  size_t i;

  if (bytes.size >= 4 && memcmp(bytes.bytes, "FLR\0", 4) == 0)
    return "the profile is JFR, not pprof";
  if (sp_view_starts(bytes, "\x28\xb5\x2f\xfd"))
    return "the profile is compressed with zstd, not with gzip";
  if (sp_view_starts(text, "{"))
    return "the profile is JSON, not pprof";
  for (i = 0; i < text.size && i < UNPACK_LOOKED_AT; i++)
    if (text.bytes[i] < ' ' && !strchr("\t\r\n", text.bytes[i]))
      break;
  return i && (i == text.size || i == UNPACK_LOOKED_AT)
             ? "the profile is text, not pprof"
             : "the profile is not pprof, or it is malformed";
}

void sp_raw_explain(sp_view bytes, sp_refusal *refusal) {
  if (refusal->kind == SP_REFUSAL_BROKEN)
    sp_refusal_prefix(refusal, unpack_format(bytes));
}

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
