#include "columns.h"

#include <zlib.h>

#include "util/system/status.h"

/* Largest size of one uncompressed part of a block. */
#define COLUMNS_BYTES_MAX ((uint64_t)256 << 20)

/* Largest compression ratio of zlib: https://zlib.net/zlib_tech.html, "Maximum
 * Compression Factor". */
#define COLUMNS_RATIO_MAX 1032

spanprof_status sp_columns_pack(sp_buffer *out, const sp_buffer *columns,
                                int level) {
  uLongf size = compressBound(columns->size);

  sp_put_number(out, columns->size);
  if (sp_buffer_status(columns) || !sp_buffer_reserve(out, size))
    return SPANPROF_ERR_NOMEM;
  if (compress2((Bytef *)out->data + out->size, &size,
                (const Bytef *)columns->data, columns->size, level) != Z_OK)
    return SPANPROF_ERR_NOMEM;
  out->size += size;
  return SPANPROF_OK;
}

spanprof_status sp_columns_unpack(sp_buffer *out, const void *bytes,
                                  size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  const uint64_t unpacked = sp_get_number(&reader);
  uLongf got = (uLongf)unpacked;
  int code;

  sp_buffer_clear(out);
  if (reader.broken || unpacked > COLUMNS_BYTES_MAX ||
      unpacked / COLUMNS_RATIO_MAX > size)
    return sp_fail(SPANPROF_ERR_FORMAT, "a block of the store is damaged");
  if (!sp_buffer_reserve(out, (size_t)unpacked + 1))
    return SPANPROF_ERR_NOMEM;
  code = uncompress((Bytef *)out->data, &got, reader.at,
                    (uLong)(reader.end - reader.at));
  if (code == Z_MEM_ERROR)
    return SPANPROF_ERR_NOMEM;
  if (code != Z_OK || got != unpacked)
    return sp_fail(SPANPROF_ERR_FORMAT, "a block of the store is damaged");
  out->size = (size_t)unpacked;
  return SPANPROF_OK;
}
