#include "../../util/status.h"
#include "store_inside.h"

static void insert_bytes(sqlite3_stmt *statement, int at,
                         const sp_buffer *bytes) {
  if (bytes->size)
    sqlite3_bind_blob64(statement, at, bytes->data, bytes->size, SQLITE_STATIC);
  else
    sqlite3_bind_null(statement, at);
}

spanprof_status sp_store_insert_block(sp_writer *writer, uint32_t source,
                                      const sp_block_profile *profiles,
                                      size_t count,
                                      const sp_block_parts *parts) {
  sqlite3_stmt *insert;
  spanprof_status st;

  st = sp_database_prepare(writer->db, &writer->insert_block,
                           "INSERT INTO block(source, from_ns, until_ns, "
                           "profiles, bytes, head, filter, totals, spans, "
                           "body) VALUES(?,?,?,?,?,?,?,?,?,?)");
  if (st)
    return st;
  insert = writer->insert_block;
  sqlite3_bind_int64(insert, 1, source);
  sqlite3_bind_int64(insert, 2, profiles[0].time_ns);
  sqlite3_bind_int64(insert, 3, profiles[count - 1].time_ns);
  sqlite3_bind_int64(insert, 4, (int64_t)count);
  sqlite3_bind_int64(insert, 5,
                     (int64_t)(parts->head.size + parts->filter.size +
                               parts->totals.size + parts->spans.size +
                               parts->body.size));
  insert_bytes(insert, 6, &parts->head);
  insert_bytes(insert, 7, &parts->filter);
  insert_bytes(insert, 8, &parts->totals);
  insert_bytes(insert, 9, &parts->spans);
  insert_bytes(insert, 10, &parts->body);
  st = sp_database_do(insert);
  sqlite3_clear_bindings(insert); /* the parts are the caller's */
  return st;
}
