#include "wide_filter.h"

#include "server/store/block/id_filter.h"

/* The wide filter that is being searched. */
typedef struct wide_lookup {
  sqlite3_stmt *piece;
  size_t bytes;
  int64_t first_piece;
  spanprof_status st;
} wide_lookup;

/* Looks the id up in the current wide filter. If its piece is missing or too
 * short, the id may exist. */
static bool wide_has(void *data, const sp_wanted_id *id) {
  wide_lookup *look = data;
  const size_t line = sp_id_filter_line(id->key, look->bytes);
  const size_t at = line % SP_WIDE_PIECE_BYTES;
  const uint8_t *bits;
  bool has = true;
  int code;

  sqlite3_bind_int64(look->piece, 1,
                     look->first_piece + (int64_t)(line / SP_WIDE_PIECE_BYTES));
  if (!look->st)
    look->st = sp_database_step(look->piece, &code);
  if (!look->st && code == SQLITE_ROW) {
    bits = sqlite3_column_blob(look->piece, 0);
    if (at + SP_ID_FILTER_LINE_BYTES <=
        (size_t)sqlite3_column_bytes(look->piece, 0))
      has = sp_id_filter_line_has(bits + at, id->key);
  }
  sqlite3_reset(look->piece);
  return has;
}

static spanprof_status wide_add(sp_block_runs *runs, const sp_mem *mem,
                                const sp_block_run *run) {
  void *array = runs->runs;
  spanprof_status st = sp_mem_reserve(mem, &array, &runs->capacity,
                                      runs->count + 1, sizeof *run);

  runs->runs = array;
  if (!st)
    runs->runs[runs->count++] = *run;
  return st;
}

static spanprof_status wide_each(sp_block_runs *out, const sp_mem *mem,
                                 sqlite3_stmt *rows, wide_lookup *look,
                                 const sp_wanted_ids *wanted) {
  spanprof_status st;
  int code;

  while (!(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    const sp_block_run run = {.first = sqlite3_column_int64(rows, 0),
                              .last = sqlite3_column_int64(rows, 1)};

    look->bytes = (size_t)sqlite3_column_int64(rows, 2);
    look->first_piece = sqlite3_column_int64(rows, 3);
    if (look->bytes && sp_wanted_ids_pass(wanted, true, wide_has, look))
      continue;
    st = look->st ? look->st : wide_add(out, mem, &run);
    if (st)
      break;
  }
  return st ? st : look->st;
}

spanprof_status sp_wide_filter_find(sp_block_runs *out, const sp_mem *mem,
                                    sqlite3 *db, const sp_wanted_ids *wanted,
                                    int64_t from_ns, int64_t until_ns) {
  wide_lookup look = {0};
  sqlite3_stmt *rows = NULL;
  spanprof_status st;

  out->count = 0;
  if (wanted->count == 0 || wanted->count > SP_WANTED_FEW)
    return SPANPROF_OK;
  st = sp_database_prepare(db, &rows,
                           "SELECT first_block, last_block, bytes, first_piece "
                           "FROM wide_filter WHERE until_ns>=?1 AND "
                           "from_ns<=?2 ORDER BY first_block");
  if (!st)
    st = sp_database_prepare(db, &look.piece,
                             "SELECT bits FROM wide_filter_piece WHERE id=?1");
  if (!st) {
    sqlite3_bind_int64(rows, 1, from_ns);
    sqlite3_bind_int64(rows, 2, until_ns);
    st = wide_each(out, mem, rows, &look, wanted);
  }
  sqlite3_finalize(rows);
  sqlite3_finalize(look.piece);
  return st;
}

bool sp_block_runs_have(const sp_block_runs *runs, int64_t block) {
  size_t low = 0, high = runs->count;

  while (low < high) {
    const size_t middle = (low + high) / 2;

    if (runs->runs[middle].last < block)
      low = middle + 1;
    else
      high = middle;
  }
  return low < runs->count && runs->runs[low].first <= block;
}

void sp_block_runs_dispose(sp_block_runs *runs, const sp_mem *mem) {
  sp_mem_free(mem, runs->runs);
  *runs = (sp_block_runs){0};
}
