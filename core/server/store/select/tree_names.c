#include "tree_names.h"

#include <stdlib.h>
#include <string.h>

#include "server/store/block/columns.h"
#include "server/store/tables/row_cursor.h"
#include "util/system/status.h"

typedef struct names_read {
  sp_stack_tree *tree;
  const sp_mem *mem;
  sqlite3 *db;
  sp_row_numbers functions;
} names_read;

typedef struct names_order {
  sp_row_id id;
  uint32_t number;
} names_order;

static int names_compare(const void *a_of, const void *b_of) {
  const names_order *a = a_of, *b = b_of;

  return a->id < b->id ? -1 : a->id > b->id;
}

static spanprof_status names_location(names_read *read, sqlite3_stmt *row,
                                      uint32_t number) {
  sp_tree_location *location = &read->tree->locations[number];
  sp_column_reader reader = sp_column_reader_of(
      sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
  const size_t most = (size_t)(reader.end - reader.at) / 2;
  sp_tree_line *lines;
  spanprof_status st =
      sp_stack_tree_array(read->tree, most, sizeof *lines, &lines);

  if (st)
    return st;
  location->lines = lines;
  location->address = sp_get_number(&reader);
  while (!st && reader.at < reader.end && !reader.broken) {
    sp_tree_line *line = &lines[location->line_count++];

    st = sp_row_numbers_get(&read->functions, read->mem, sp_get_number(&reader),
                            UINT32_MAX, &line->function);
    line->line = sp_get_signed(&reader);
  }
  return st;
}

static spanprof_status names_text(names_read *read, sqlite3_stmt *row,
                                  int column, const char **out) {
  const size_t size = (size_t)sqlite3_column_bytes(row, column);
  char *copy;
  spanprof_status st = sp_stack_tree_array(read->tree, size, 1, &copy);

  if (!st && size)
    memcpy(copy, sqlite3_column_text(row, column), size);
  *out = copy;
  return st;
}

static spanprof_status names_function(names_read *read, sqlite3_stmt *row,
                                      uint32_t number) {
  sp_tree_function *function = &read->tree->functions[number];
  spanprof_status st = names_text(read, row, 1, &function->name);

  if (!st)
    st = names_text(read, row, 2, &function->file);
  function->start_line = sqlite3_column_int64(row, 3);
  return st;
}

typedef spanprof_status (*names_row_fn)(names_read *read, sqlite3_stmt *row,
                                        uint32_t number);

/* Call a function for the row of each id, in the order of the ids. */
static spanprof_status names_each(names_read *read, const sp_row_numbers *of,
                                  const char *sql, names_row_fn fn) {
  sp_row_cursor cursor = {
      .db = read->db, .sql = sql, .cancel = read->tree->cancel};
  names_order *order = sp_mem_new(read->mem, (of->count + 1) * sizeof *order);
  spanprof_status st = order ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  size_t i;

  for (i = 0; !st && i < of->count; i++)
    order[i] = (names_order){of->ids[i], (uint32_t)i};
  if (!st && of->count)
    qsort(order, of->count, sizeof *order, names_compare);
  for (i = 0; !st && i < of->count; i++) {
    st = sp_row_cursor_move(&cursor, order[i].id);
    if (!st)
      st = fn(read, cursor.row, order[i].number);
  }
  sp_row_cursor_dispose(&cursor);
  sp_mem_free(read->mem, order);
  return st;
}

spanprof_status sp_tree_names_read(sp_stack_tree *tree, const sp_mem *mem,
                                   sqlite3 *db,
                                   const sp_row_numbers *locations) {
  names_read read = {.tree = tree, .mem = mem, .db = db};
  spanprof_status st = sp_stack_tree_array(
      read.tree, locations->count, sizeof *tree->locations, &tree->locations);

  tree->location_count = locations->count;
  if (!st)
    st = names_each(&read, locations,
                    "SELECT id, lines FROM location WHERE id>=?1 ORDER BY id",
                    names_location);
  if (!st)
    st = sp_stack_tree_array(read.tree, read.functions.count,
                             sizeof *tree->functions, &tree->functions);
  tree->function_count = read.functions.count;
  if (!st)
    st = names_each(&read, &read.functions,
                    "SELECT function.id, n.text, f.text, start_line FROM "
                    "function CROSS JOIN text n ON n.id=name CROSS JOIN "
                    "text f ON f.id=file WHERE function.id>=?1 ORDER BY "
                    "function.id",
                    names_function);
  sp_row_numbers_dispose(&read.functions, mem);
  return st;
}
