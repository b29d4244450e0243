#include "rootless.h"

/* Run a statement whose first parameters are the trace, up to its first row.
 * *has is set if there is a row. */
static spanprof_status rootless_find(sp_rootless *rootless, sqlite3_stmt **row,
                                     const char *sql, sp_trace_id trace,
                                     bool *has) {
  spanprof_status st = sp_database_prepare(rootless->db, row, sql);
  int code = SQLITE_DONE;

  *has = false;
  if (st)
    return st;
  sqlite3_reset(*row);
  sqlite3_bind_int64(*row, 1, (int64_t)trace.hi);
  sqlite3_bind_int64(*row, 2, (int64_t)trace.lo);
  st = sp_database_step(*row, &code);
  *has = !st && code == SQLITE_ROW;
  if (!*has)
    sqlite3_reset(*row);
  return st;
}

static spanprof_status rootless_has_root(sp_rootless *rootless,
                                         sp_trace_id trace, bool *has) {
  const spanprof_status st = rootless_find(
      rootless, &rootless->root,
      "SELECT 1 FROM span WHERE trace_hi=?1 AND trace_lo=?2 AND parent_id=0 "
      "LIMIT 1",
      trace, has);

  sqlite3_reset(rootless->root);
  return st;
}

static spanprof_status rootless_drop(sp_rootless *rootless, sp_trace_id trace) {
  bool has;

  return rootless_find(rootless, &rootless->drop,
                       "DELETE FROM rootless WHERE r_hi=?1 AND r_lo=?2", trace,
                       &has);
}

static spanprof_status rootless_put(sp_rootless *rootless, sp_trace_id trace,
                                    int64_t span_id, int64_t start_ns) {
  spanprof_status st = sp_database_prepare(
      rootless->db, &rootless->put,
      "INSERT OR REPLACE INTO rootless(r_hi, r_lo, r_id, r_start) "
      "VALUES(?,?,?,?)");

  if (st)
    return st;
  sqlite3_bind_int64(rootless->put, 1, (int64_t)trace.hi);
  sqlite3_bind_int64(rootless->put, 2, (int64_t)trace.lo);
  sqlite3_bind_int64(rootless->put, 3, span_id);
  sqlite3_bind_int64(rootless->put, 4, start_ns);
  return sp_database_do(rootless->put);
}

spanprof_status sp_rootless_update(sp_rootless *rootless, sp_trace_id trace) {
  bool has = false;
  spanprof_status st = rootless_has_root(rootless, trace, &has);

  if (st || has)
    return st ? st : rootless_drop(rootless, trace);
  st = rootless_find(rootless, &rootless->earliest,
                     "SELECT span_id, start_ns FROM span WHERE trace_hi=?1 AND "
                     "trace_lo=?2 ORDER BY start_ns, span_id LIMIT 1",
                     trace, &has);
  if (!st && !has)
    return rootless_drop(rootless, trace);
  if (!st)
    st = rootless_put(rootless, trace,
                      sqlite3_column_int64(rootless->earliest, 0),
                      sqlite3_column_int64(rootless->earliest, 1));
  sqlite3_reset(rootless->earliest);
  return st;
}

spanprof_status sp_rootless_add(sp_rootless *rootless,
                                const sp_store_span *first) {
  bool has = false;
  int64_t id, start_ns;
  spanprof_status st = rootless_has_root(rootless, first->trace_id, &has);

  if (st || has)
    return st ? st : rootless_drop(rootless, first->trace_id);
  st = rootless_find(rootless, &rootless->known,
                     "SELECT r_id, r_start FROM rootless JOIN span ON "
                     "trace_hi=r_hi AND trace_lo=r_lo AND span_id=r_id AND "
                     "start_ns=r_start WHERE r_hi=?1 AND r_lo=?2",
                     first->trace_id, &has);
  if (st || !has)
    return st ? st : sp_rootless_update(rootless, first->trace_id);
  id = sqlite3_column_int64(rootless->known, 0);
  start_ns = sqlite3_column_int64(rootless->known, 1);
  sqlite3_reset(rootless->known);
  if (first->start_ns > start_ns ||
      (first->start_ns == start_ns && (int64_t)first->span_id >= id))
    return SPANPROF_OK;
  return rootless_put(rootless, first->trace_id, (int64_t)first->span_id,
                      first->start_ns);
}

void sp_rootless_dispose(sp_rootless *rootless) {
  sqlite3_finalize(rootless->root);
  sqlite3_finalize(rootless->known);
  sqlite3_finalize(rootless->earliest);
  sqlite3_finalize(rootless->put);
  sqlite3_finalize(rootless->drop);
}
