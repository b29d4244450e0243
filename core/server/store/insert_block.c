#include "store_inside.h"
#include "util/system/status.h"

static void insert_bytes(sqlite3_stmt *statement, int at,
                         const sp_buffer *bytes) {
  if (bytes->size)
    sqlite3_bind_blob64(statement, at, bytes->data, bytes->size, SQLITE_STATIC);
  else
    sqlite3_bind_null(statement, at);
}

/* Get the number of a new block. Numbers ascend and are never reused, even
 * after blocks were deleted, because a wide filter covers all numbers of its
 * range. */
static spanprof_status insert_number(sp_writer *writer, int64_t *number) {
  spanprof_status st = SPANPROF_OK;

  if (!writer->next_block)
    st = sp_database_number(writer->db,
                            "SELECT 1+max((SELECT coalesce(max(id), 0) FROM "
                            "block), (SELECT coalesce(max(last_block), 0) FROM "
                            "wide_filter))",
                            &writer->next_block);
  *number = st ? 0 : writer->next_block++;
  return st;
}

spanprof_status sp_store_insert_block(sp_writer *writer, uint32_t source,
                                      int64_t from_ns, int64_t until_ns,
                                      size_t profiles, const uint64_t *digest,
                                      const sp_block_parts *parts) {
  sqlite3_stmt *insert;
  int64_t number;
  spanprof_status st = sp_log_bound_check(&writer->bound);

  if (!st)
    st = insert_number(writer, &number);

  if (!st)
    st = sp_database_prepare(writer->db, &writer->insert_block,
                             "INSERT INTO block(source, from_ns, until_ns, "
                             "profiles, bytes, head, filter, totals, spans, "
                             "body, id, digest) "
                             "VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  if (st)
    return st;
  insert = writer->insert_block;
  sqlite3_bind_int64(insert, 1, source);
  sqlite3_bind_int64(insert, 2, from_ns);
  sqlite3_bind_int64(insert, 3, until_ns);
  sqlite3_bind_int64(insert, 4, (int64_t)profiles);
  sqlite3_bind_int64(insert, 5,
                     (int64_t)(parts->head.size + parts->filter.size +
                               parts->totals.size + parts->spans.size +
                               parts->body.size));
  insert_bytes(insert, 6, &parts->head);
  insert_bytes(insert, 7, &parts->filter);
  insert_bytes(insert, 8, &parts->totals);
  insert_bytes(insert, 9, &parts->spans);
  insert_bytes(insert, 10, &parts->body);
  sqlite3_bind_int64(insert, 11, number);
  if (digest)
    sqlite3_bind_int64(insert, 12, (int64_t)*digest);
  st = sp_database_do(insert);
  sqlite3_clear_bindings(insert); /* the bound buffers belong to the caller */
  return st;
}
