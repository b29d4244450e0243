/* SQLite keeps the pages of deleted rows for new rows. If there are many such
 * pages, or the file exceeds its limit, they are returned to the volume. The
 * log, which readers may have kept large, is truncated as well. */
#include <stdio.h>

#include "server/store/store_inside.h"
#include "util/system/status.h"

/* Free pages may have 1/PART of the bytes of the used pages, plus MIN bytes. */
#define RETURN_PART 4
#define RETURN_MIN  ((uint64_t)2 << 20)

/* Largest number of pages to return in one transaction. */
#define RETURN_PAGES 64

static spanprof_status return_some(sp_writer *writer, void *data) {
  char sql[64];

  (void)data;
  snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", RETURN_PAGES);
  return sp_database_run(writer->db, sql);
}

static spanprof_status return_log(sp_writer *writer, void *data) {
  (void)data;
  writer->empty_log = true;
  return SPANPROF_OK;
}

static spanprof_status return_pages(sp_store *store, uint64_t most) {
  uint64_t before, file = atomic_load(&store->writer.file_bytes);
  spanprof_status st;

  do {
    before = file;
    st = sp_writer_call(&store->writer, return_some, NULL);
    file = atomic_load(&store->writer.file_bytes);
  } while (!st && file < before && file > most && !sp_store_is_closing(store));
  return st;
}

spanprof_status sp_store_return_pages(sp_store *store) {
  const uint64_t file = atomic_load(&store->writer.file_bytes);
  const uint64_t used = atomic_load(&store->writer.used_bytes);
  const uint64_t spare = used / RETURN_PART + RETURN_MIN;
  spanprof_status st = SPANPROF_OK;
  sp_disk_budget budget;
  bool due;

  sp_store_budget(store, &budget);
  due = file > used && (file > budget.data_max || file - used > spare);
  if (due)
    st = return_pages(store, sp_min_u64(used + spare / 2, budget.data_max));
  return st || (!due && budget.log <= budget.log_soft_max)
             ? st
             : sp_writer_call(&store->writer, return_log, NULL);
}
