#include "name_table.h"

#include "util/text/utf8.h"

void sp_name_table_init(sp_name_table *table, const sp_mem *mem) {
  memset(table, 0, sizeof *table);
  table->mem = mem;
}

void sp_name_table_dispose(sp_name_table *table) {
  sp_mem_free(table->mem, table->text);
  sp_mem_free(table->mem, table->names);
  sp_index_dispose(&table->index, table->mem);
  sp_name_table_init(table, table->mem);
}

void sp_name_table_clear(sp_name_table *table) {
  table->text_bytes = 0;
  table->count = 0;
  sp_index_clear(&table->index);
}

static spanprof_status name_table_add(sp_name_table *table, const char *text,
                                      size_t bytes, uint64_t hash,
                                      uint32_t *out) {
  spanprof_status st = sp_index_reserve(&table->index, table->mem);

  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->names, &table->capacity,
                        table->count + 1, sizeof *table->names);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->text,
                        &table->text_capacity, table->text_bytes + bytes, 1);
  if (st)
    return st;
  memcpy(table->text + table->text_bytes, text, bytes);
  table->names[table->count] = (sp_name){table->text_bytes, (uint32_t)bytes};
  table->text_bytes += bytes;
  sp_index_add(&table->index, hash, (uint32_t)table->count);
  table->count++;
  *out = (uint32_t)table->count;
  return SPANPROF_OK;
}

spanprof_status sp_name_table_intern(sp_name_table *table, const char *text,
                                     size_t bytes, uint32_t *out) {
  uint64_t hash;
  uint32_t i, at;

  *out = 0;
  if (bytes == 0)
    return SPANPROF_OK;
  hash = sp_hash_bytes(text, bytes);
  for (i = sp_index_first(&table->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&table->index, hash, &at)) {
    const sp_name *name = &table->names[i];

    if (name->bytes == bytes && !memcmp(table->text + name->at, text, bytes)) {
      *out = i + 1;
      return SPANPROF_OK;
    }
  }
  return name_table_add(table, text, bytes, hash, out);
}

spanprof_status sp_name_table_clean(sp_name_table *table, const char *text,
                                    size_t bytes, size_t max, uint32_t *out) {
  char clean[SP_LABEL_BYTES_MAX];
  bool changed;

  if (bytes > max) {
    text += bytes - max;
    bytes = max;
    /* Do not begin inside a character. */
    while (bytes && ((unsigned char)*text & 0xc0) == 0x80) {
      text++;
      bytes--;
    }
  }
  bytes = sp_utf8_clean(text, bytes, clean, sizeof clean, &changed);
  return sp_name_table_intern(table, clean, bytes, out);
}

const char *sp_name_table_get(const sp_name_table *table, uint32_t number,
                              size_t *bytes) {
  *bytes = 0;
  if (number == 0)
    return "";
  *bytes = table->names[number - 1].bytes;
  return table->text + table->names[number - 1].at;
}

size_t sp_name_table_bytes(const sp_name_table *table) {
  return table->text_capacity + table->capacity * sizeof *table->names +
         sp_index_bytes(&table->index);
}
