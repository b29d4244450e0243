#include <stdio.h>

#include "server/store/block/id_filter.h"
#include "util/system/status.h"
#include "wide_filter.h"

/* A wide filter is made when there are this many final blocks (which will not
 * be compacted any more), or when their own filters have this many bytes in
 * total. Both limits are small enough for a short transaction, even if the last
 * block's filter exceeds them, and for queries, which read the filters of
 * blocks that are in no wide filter one by one. */
#define WIDE_BYTES  ((size_t)1280 << 10)
#define WIDE_BLOCKS 512

/* The range of a wide filter may include blocks that are not final. They do not
 * count for the limits above, only for these. When these limits are reached,
 * the wide filter is made even if few of its blocks are final. */
#define WIDE_BYTES_MOST  (4 * WIDE_BYTES)
#define WIDE_BLOCKS_MOST (8 * WIDE_BLOCKS)

/* The profiles of an hour may be compacted until this time after the end of the
 * hour. */
#define WIDE_FINAL_NS INT64_C(3900000000000)

/* Largest number of wide filters to delete in one transaction. */
#define WIDE_DROPPED 8

typedef struct wide_make {
  sp_store *store;
  sqlite3 *db;
  int64_t after; /* number of the last block that is in a wide filter */
  int64_t first;
  int64_t last;
  int64_t from_ns;
  int64_t until_ns;
  size_t count;
  size_t bytes;
  size_t final_count; /* number of blocks that will not be compacted any more */
  size_t final_bytes;
  uint8_t *bits;
} wide_make;

/* Returns whether the block will not be compacted any more. A block whose time
 * is far in the future is final, too, because waiting for its hour to end is
 * useless. */
static bool wide_is_final(const wide_make *make, int64_t until_ns) {
  const int64_t now = (int64_t)sp_clock_unix_ns(make->store->clock);

  return until_ns < now - WIDE_FINAL_NS || until_ns > now + WIDE_FINAL_NS;
}

static bool wide_is_full(const wide_make *make) {
  return make->final_bytes >= WIDE_BYTES || make->final_count >= WIDE_BLOCKS ||
         make->bytes >= WIDE_BYTES_MOST || make->count >= WIDE_BLOCKS_MOST;
}

/* Add a block to the range of the wide filter that is being made. */
static void wide_add(wide_make *make, sqlite3_stmt *row) {
  const int64_t from_ns = sqlite3_column_int64(row, 1);
  const int64_t until_ns = sqlite3_column_int64(row, 2);
  const size_t bytes = (size_t)sqlite3_column_int64(row, 3);

  make->last = sqlite3_column_int64(row, 0);
  if (make->count == 0)
    make->first = make->last;
  if (make->count == 0 || from_ns < make->from_ns)
    make->from_ns = from_ns;
  if (make->count == 0 || until_ns > make->until_ns)
    make->until_ns = until_ns;
  make->bytes += bytes;
  make->count++;
  if (!wide_is_final(make, until_ns))
    return;
  make->final_bytes += bytes;
  make->final_count++;
}

/* Find the blocks of the next wide filter, whose size is determined by the
 * sizes of the blocks' own filters. */
static spanprof_status wide_gather(wide_make *make) {
  sqlite3_stmt *rows = NULL;
  int code = SQLITE_DONE;
  spanprof_status st = sp_database_number(
      make->db, "SELECT max(last_block) FROM wide_filter", &make->after);

  if (!st)
    st = sp_database_prepare(make->db, &rows,
                             "SELECT id, from_ns, until_ns, length(filter) "
                             "FROM block WHERE id>?1 ORDER BY id");
  if (!st)
    sqlite3_bind_int64(rows, 1, make->after);
  while (!st && !wide_is_full(make) && !(st = sp_database_step(rows, &code)) &&
         code == SQLITE_ROW)
    wide_add(make, rows);
  sqlite3_finalize(rows);
  return st;
}

static spanprof_status wide_fill(wide_make *make) {
  sqlite3_stmt *rows = NULL;
  sp_block block;
  int code = SQLITE_DONE;
  spanprof_status st;

  make->bits = sp_mem_zero(make->store->mem, make->bytes + 1);
  if (!make->bits)
    return SPANPROF_ERR_NOMEM;
  st = sp_database_prepare(
      make->db, &rows,
      "SELECT spans, id FROM block WHERE id BETWEEN ?1 AND ?2 "
      "AND filter IS NOT NULL");
  if (!st) {
    sqlite3_bind_int64(rows, 1, make->first);
    sqlite3_bind_int64(rows, 2, make->last);
  }
  sp_block_init(&block, make->store->mem);
  while (!st && !(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    st = sp_block_read_spans(&block, sqlite3_column_blob(rows, 0),
                             (size_t)sqlite3_column_bytes(rows, 0));
    if (sp_store_skip_damaged(make->store, sqlite3_column_int64(rows, 1), st))
      st = SPANPROF_OK;
    else if (!st && make->bytes)
      sp_block_filter_spans(&block, make->bits, make->bytes);
  }
  sp_block_dispose(&block);
  sqlite3_finalize(rows);
  return st;
}

static spanprof_status wide_write_pieces(const wide_make *make, sqlite3 *db,
                                         int64_t first_piece) {
  sqlite3_stmt *insert = NULL;
  spanprof_status st = sp_database_prepare(
      db, &insert, "INSERT INTO wide_filter_piece(id, bits) VALUES(?1,?2)");
  size_t at, size;

  for (at = 0; !st && at < make->bytes; at += size) {
    size = make->bytes - at;
    if (size > SP_WIDE_PIECE_BYTES)
      size = SP_WIDE_PIECE_BYTES;
    sqlite3_bind_int64(insert, 1, first_piece++);
    sqlite3_bind_blob64(insert, 2, make->bits + at, size, SQLITE_STATIC);
    st = sp_database_do(insert);
  }
  sqlite3_finalize(insert);
  return st;
}

/* Insert the wide filter, unless another call has made one since this one was
 * begun. Runs on the writer's thread. */
static spanprof_status wide_write(sp_writer *writer, void *data) {
  const wide_make *make = data;
  sqlite3_stmt *insert = NULL;
  int64_t after, first_piece;
  spanprof_status st = sp_database_number(
      writer->db, "SELECT max(last_block) FROM wide_filter", &after);

  if (st || after != make->after)
    return st;
  st = sp_database_number(writer->db,
                          "SELECT coalesce(max(id), 0)+1 FROM "
                          "wide_filter_piece",
                          &first_piece);
  if (!st)
    st = wide_write_pieces(make, writer->db, first_piece);
  if (!st)
    st = sp_database_prepare(
        writer->db, &insert,
        "INSERT INTO wide_filter(first_block, last_block, from_ns, until_ns, "
        "bytes, first_piece) VALUES(?1,?2,?3,?4,?5,?6)");
  if (st)
    return st;
  sqlite3_bind_int64(insert, 1, make->first);
  sqlite3_bind_int64(insert, 2, make->last);
  sqlite3_bind_int64(insert, 3, make->from_ns);
  sqlite3_bind_int64(insert, 4, make->until_ns);
  sqlite3_bind_int64(insert, 5, (int64_t)make->bytes);
  sqlite3_bind_int64(insert, 6, first_piece);
  st = sp_database_do(insert);
  sqlite3_finalize(insert);
  return st;
}

/* Make the next wide filter, if there are enough blocks. *did is set if there
 * were. */
static spanprof_status wide_make_one(sp_store *store, bool *did) {
  wide_make make = {.store = store};
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_acquire(store, &reader);

  *did = false;
  if (st)
    return st;
  make.db = reader->db;
  st = wide_gather(&make);
  *did = !st && wide_is_full(&make);
  if (*did)
    st = wide_fill(&make);
  sp_store_reader_release(store, reader);
  if (!st && *did)
    st = sp_writer_call(&store->writer, wide_write, &make);
  sp_mem_free(store->mem, make.bits);
  return st;
}

#define WIDE_UNUSED                                                         \
  "FROM wide_filter WHERE NOT EXISTS(SELECT 1 FROM block WHERE id BETWEEN " \
  "first_block AND last_block)"

/* Delete some wide filters whose range has no blocks left. Runs on the writer's
 * thread. */
static spanprof_status wide_drop(sp_writer *writer, void *data) {
  char sql[512];
  spanprof_status st;

  (void)data;
  snprintf(sql, sizeof sql,
           "DELETE FROM wide_filter_piece WHERE id IN (SELECT piece.id FROM "
           "(SELECT first_piece, bytes " WIDE_UNUSED " ORDER BY id LIMIT %d) "
           "JOIN wide_filter_piece piece ON piece.id BETWEEN first_piece AND "
           "first_piece+(bytes+%d)/%d-1)",
           WIDE_DROPPED, SP_WIDE_PIECE_BYTES - 1, SP_WIDE_PIECE_BYTES);
  st = sp_database_run(writer->db, sql);
  snprintf(sql, sizeof sql,
           "DELETE FROM wide_filter WHERE id IN (SELECT id " WIDE_UNUSED
           " ORDER BY id LIMIT %d)",
           WIDE_DROPPED);
  return st ? st : sp_database_run(writer->db, sql);
}

static spanprof_status wide_unused(sp_store *store, int64_t *count) {
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_acquire(store, &reader);

  *count = 0;
  if (st)
    return st;
  st = sp_database_number(reader->db, "SELECT count(*) " WIDE_UNUSED, count);
  sp_store_reader_release(store, reader);
  return st;
}

spanprof_status sp_wide_filter_update(sp_store *store) {
  int64_t unused;
  spanprof_status st = wide_unused(store, &unused);
  bool did = true;

  for (; !st && unused > 0 && !sp_store_is_closing(store);
       unused -= WIDE_DROPPED)
    st = sp_writer_call(&store->writer, wide_drop, NULL);
  while (!st && did && !sp_store_is_closing(store))
    st = wide_make_one(store, &did);
  return st;
}
