#include "stack_run.h"

#include "server/store/block/columns.h"
#include "util/system/status.h"

spanprof_status sp_stack_run_read(sp_stack_run *run, sqlite3_stmt *row) {
  const void *more = sqlite3_column_blob(row, 3);
  sp_column_reader reader =
      sp_column_reader_of(more, (size_t)sqlite3_column_bytes(row, 3));

  run->id = (sp_row_id)sqlite3_column_int64(row, 0);
  run->parent = (sp_row_id)sqlite3_column_int64(row, 1);
  run->locations[0] = (sp_row_id)sqlite3_column_int64(row, 2);
  for (run->count = 1; reader.at < reader.end && run->count < SP_STACK_RUN_MAX;
       run->count++)
    run->locations[run->count] = sp_get_number(&reader);
  if (run->parent < run->id && !reader.broken && reader.at == reader.end)
    return SPANPROF_OK;
  run->count = 0;
  return sp_fail(SPANPROF_ERR_FORMAT, "a stack of the store is damaged");
}

spanprof_status sp_stack_run_more(const sp_row_id *locations, size_t count,
                                  sp_buffer *more) {
  size_t i;

  sp_buffer_clear(more);
  for (i = 1; i < count; i++)
    sp_put_number(more, locations[i]);
  return sp_buffer_status(more);
}
