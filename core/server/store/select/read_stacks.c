#include <stdlib.h>
#include <string.h>

#include "sample_sums.h"
#include "server/model/sum.h"
#include "server/store/block/columns.h"
#include "server/store/tables/stack_rows.h"
#include "util/system/status.h"

/* Memory limit for one tree. */
#define STACKS_BYTES_MAX ((size_t)96 << 20)

/* Each stack needs a node, and while the stacks are read, a row and a number.
 */
#define STACKS_MAX (STACKS_BYTES_MAX / (sizeof(sp_tree_node) + 16))

/* Ids in the store, without duplicates. The index of an id is its number in
 * this query. */
typedef struct stacks_ids {
  sp_row_id *ids;
  size_t count;
  size_t capacity;
  sp_index index;
} stacks_ids;

typedef struct stacks_order {
  sp_row_id id;
  uint32_t number;
} stacks_order;

/* The sum of one stack. sp_sample_count() counts the samples of a source when
 * all its blocks have been read. */
typedef struct stacks_sum {
  int64_t value;
  int64_t count;                /* number of samples of the sources before the
                                 * current one */
  int64_t parts;                /* sum of sp_sample_part() for the current
                                 * source's samples */
  const sp_select_entry *entry; /* the entry of the samples in `parts`; NULL:
                                 * none */
  uint32_t source;
} stacks_sum;

typedef struct stacks_read {
  const sp_mem *mem;
  sqlite3 *db;
  sp_select select;
  stacks_ids stacks;
  stacks_sum *sums; /* sum of each stack */
  size_t sum_capacity;
  sp_stack_rows rows;
  stacks_ids locations;
  stacks_ids functions;
  sp_stack_tree *tree;
  sp_sample_sums *samples; /* NULL: sums by series and span are not requested */
} stacks_read;

static spanprof_status stacks_too_many(void) {
  return sp_fail(SPANPROF_ERR_LIMIT,
                 "the query has too many stacks: narrow it down");
}

static spanprof_status stacks_number(const sp_mem *mem, stacks_ids *ids,
                                     sp_row_id id, uint32_t *number) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, id);
  void *array = ids->ids;
  uint32_t at, i;
  spanprof_status st;

  for (i = sp_index_first(&ids->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&ids->index, hash, &at)) {
    if (ids->ids[i] == id) {
      *number = i;
      return SPANPROF_OK;
    }
  }
  if (ids->count >= STACKS_MAX)
    return stacks_too_many();
  st = sp_mem_reserve(mem, &array, &ids->capacity, ids->count + 1,
                      sizeof *ids->ids);
  ids->ids = array;
  if (!st)
    st = sp_index_reserve(&ids->index, mem);
  if (st)
    return st;
  sp_index_add(&ids->index, hash, (uint32_t)ids->count);
  ids->ids[ids->count] = id;
  *number = (uint32_t)ids->count++;
  return SPANPROF_OK;
}

static void stacks_ids_dispose(stacks_ids *ids, const sp_mem *mem) {
  sp_mem_free(mem, ids->ids);
  sp_index_dispose(&ids->index, mem);
}

static void stacks_count(stacks_sum *sum) {
  if (sum->entry)
    sp_increase(&sum->count, sp_sample_count(sum->entry, sum->parts));
  sum->entry = NULL;
  sum->parts = 0;
}

static spanprof_status stacks_sample(void *data, sp_select_entry *entry,
                                     const sp_block *block,
                                     const sp_block_sample *sample) {
  const int64_t *values = &block->values[sample->values];
  stacks_read *read = data;
  const size_t known = read->stacks.count;
  stacks_sum *sum;
  uint32_t number;
  spanprof_status st =
      stacks_number(read->mem, &read->stacks, sample->stack, &number);

  if (!st)
    st = sp_mem_reserve(read->mem, (void **)&read->sums, &read->sum_capacity,
                        read->stacks.count, sizeof *read->sums);
  if (st)
    return st;
  if (number == known)
    read->sums[number] = (stacks_sum){0};
  sum = &read->sums[number];
  if (sum->source != read->select.source)
    stacks_count(sum);
  sum->entry = entry;
  sum->source = read->select.source;
  sp_increase(&sum->value, values[entry->type]);
  sp_increase(&sum->parts, sp_sample_part(entry, values));
  if (entry->counts == SP_SELECT_NO_COUNTS && entry->period <= 0)
    read->tree->is_counted = false;
  if (read->samples)
    st = sp_sample_sums_add(read->samples, entry, number, block, sample);
  return st;
}

static spanprof_status stacks_run_end(void *data, const sp_block *block,
                                      const sp_block_sample *first) {
  stacks_read *read = data;

  if (read->samples)
    sp_sample_sums_time(read->samples, &block->profiles[first->profile]);
  return SPANPROF_OK;
}

static int stacks_order_compare(const void *a_of, const void *b_of) {
  const stacks_order *a = a_of, *b = b_of;

  return a->id < b->id ? -1 : a->id > b->id;
}

static spanprof_status stacks_new(stacks_read *read, size_t count, size_t item,
                                  void *out) {
  sp_arena *arena = &read->tree->arena;
  void *p = sp_arena_new(arena, count + 1, item);

  memcpy(out, &p, sizeof p);
  if (p)
    return SPANPROF_OK;
  return arena->st == SPANPROF_ERR_LIMIT ? stacks_too_many() : arena->st;
}

/* Make the nodes of the tree: first the root, then the rows in reverse order,
 * so that a caller comes before its callees. */
static spanprof_status stacks_nodes(stacks_read *read) {
  sp_stack_rows *rows = &read->rows;
  const size_t stacks = read->stacks.count;
  uint32_t *node_of;
  spanprof_status st = stacks_new(read, stacks, sizeof *node_of, &node_of);
  size_t i;

  if (!st)
    st = sp_stack_rows_read(rows, read->db, read->tree->cancel,
                            read->stacks.ids, stacks, node_of);
  if (!st)
    st = stacks_new(read, rows->count, sizeof *read->tree->nodes,
                    &read->tree->nodes);
  if (st)
    return st;
  for (i = 0; !st && i < rows->count; i++) {
    sp_tree_node *node = &read->tree->nodes[rows->count - i];

    if (rows->callers[i] != SP_STACK_ROW_NONE)
      node->parent = (uint32_t)rows->count - rows->callers[i];
    st = stacks_number(read->mem, &read->locations, rows->locations[i],
                       &node->location);
  }
  /* A sample without a stack belongs to no frame, so it appears only in the
   * sums by series (read->samples). */
  for (i = 0; i < stacks; i++) {
    if (node_of[i] == SP_STACK_ROW_NONE) {
      node_of[i] = 0;
      continue;
    }
    node_of[i] = (uint32_t)rows->count - node_of[i];
    read->tree->nodes[node_of[i]].self = read->sums[i].value;
    read->tree->nodes[node_of[i]].count = read->sums[i].count;
  }
  read->tree->node_count = rows->count + 1;
  if (!st && read->samples)
    st = sp_sample_sums_place(read->samples, node_of, read->tree);
  return st;
}

static spanprof_status stacks_location(stacks_read *read, sqlite3_stmt *row,
                                       uint32_t number) {
  sp_tree_location *location = &read->tree->locations[number];
  sp_column_reader reader = sp_column_reader_of(
      sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
  const size_t most = (size_t)(reader.end - reader.at) / 2;
  sp_tree_line *lines;
  spanprof_status st = stacks_new(read, most, sizeof *lines, &lines);

  if (st)
    return st;
  location->lines = lines;
  location->address = sp_get_number(&reader);
  while (!st && reader.at < reader.end && !reader.broken) {
    sp_tree_line *line = &lines[location->line_count++];

    st = stacks_number(read->mem, &read->functions, sp_get_number(&reader),
                       &line->function);
    line->line = sp_get_signed(&reader);
  }
  return st;
}

static spanprof_status stacks_text(stacks_read *read, sqlite3_stmt *row,
                                   int column, const char **out) {
  const size_t size = (size_t)sqlite3_column_bytes(row, column);
  char *copy;
  spanprof_status st = stacks_new(read, size, 1, &copy);

  if (!st && size)
    memcpy(copy, sqlite3_column_text(row, column), size);
  *out = copy;
  return st;
}

static spanprof_status stacks_function(stacks_read *read, sqlite3_stmt *row,
                                       uint32_t number) {
  sp_tree_function *function = &read->tree->functions[number];
  spanprof_status st = stacks_text(read, row, 1, &function->name);

  if (!st)
    st = stacks_text(read, row, 2, &function->file);
  function->start_line = sqlite3_column_int64(row, 3);
  return st;
}

typedef spanprof_status (*stacks_row_fn)(stacks_read *read, sqlite3_stmt *row,
                                         uint32_t number);

/* Call a function for the row of each id, in the order of the ids. */
static spanprof_status stacks_each(stacks_read *read, const stacks_ids *of,
                                   const char *sql, stacks_row_fn fn) {
  sp_row_cursor cursor = {
      .db = read->db, .sql = sql, .cancel = read->tree->cancel};
  stacks_order *order = sp_mem_new(read->mem, (of->count + 1) * sizeof *order);
  spanprof_status st = order ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  size_t i;

  for (i = 0; !st && i < of->count; i++)
    order[i] = (stacks_order){of->ids[i], (uint32_t)i};
  if (!st && of->count)
    qsort(order, of->count, sizeof *order, stacks_order_compare);
  for (i = 0; !st && i < of->count; i++) {
    st = sp_row_cursor_move(&cursor, order[i].id);
    if (!st)
      st = fn(read, cursor.row, order[i].number);
  }
  sp_row_cursor_dispose(&cursor);
  sp_mem_free(read->mem, order);
  return st;
}

static spanprof_status stacks_names(stacks_read *read) {
  sp_stack_tree *tree = read->tree;
  spanprof_status st = stacks_new(read, read->locations.count,
                                  sizeof *tree->locations, &tree->locations);

  tree->location_count = read->locations.count;
  if (!st)
    st = stacks_each(read, &read->locations,
                     "SELECT id, lines FROM location WHERE id>=?1 ORDER BY id",
                     stacks_location);
  if (!st)
    st = stacks_new(read, read->functions.count, sizeof *tree->functions,
                    &tree->functions);
  tree->function_count = read->functions.count;
  return st ? st
            : stacks_each(read, &read->functions,
                          "SELECT function.id, n.text, f.text, start_line FROM "
                          "function CROSS JOIN text n ON n.id=name CROSS JOIN "
                          "text f ON f.id=file WHERE function.id>=?1 ORDER BY "
                          "function.id",
                          stacks_function);
}

static spanprof_status stacks_tree(stacks_read *read, sp_store *store,
                                   const sp_selector *selector) {
  const sp_select_sink sink = {.data = read,
                               .totals = !read->samples,
                               .sample = stacks_sample,
                               .run_end = stacks_run_end};
  spanprof_status st;
  size_t i;

  st = sp_select_run(&read->select, store, read->db, selector, &sink);
  for (i = 0; i < read->stacks.count && i < read->sum_capacity; i++)
    stacks_count(&read->sums[i]);
  read->tree->profile_count = read->select.profile_count;
  if (!st && read->samples)
    st = sp_sample_sums_label(read->samples, read->tree);
  sp_select_dispose(&read->select);
  if (!st)
    st = stacks_nodes(read);
  return st ? st : stacks_names(read);
}

static spanprof_status stacks_run(sp_store *store, const sp_selector *selector,
                                  sp_sample_sums *samples,
                                  sp_stack_tree **out) {
  const sp_mem *mem = sp_select_mem(store, selector);
  stacks_read read = {.mem = mem,
                      .samples = samples,
                      .rows = {.mem = mem, .count_max = STACKS_MAX}};
  sp_store_reader *reader;
  spanprof_status st =
      sp_store_reader_acquire_for(store, selector->cancel, &reader);

  *out = NULL;
  if (st)
    return st;
  read.db = reader->db;
  if (samples)
    samples->select = &read.select;
  read.tree = sp_mem_zero(read.mem, sizeof *read.tree);
  if (read.tree) {
    sp_arena_init(&read.tree->arena, read.mem, STACKS_BYTES_MAX);
    read.tree->is_counted = true;
    read.tree->cancel = selector->cancel;
    st = stacks_tree(&read, store, selector);
  } else {
    st = SPANPROF_ERR_NOMEM;
  }
  sp_store_reader_release(store, reader);
  stacks_ids_dispose(&read.stacks, read.mem);
  stacks_ids_dispose(&read.locations, read.mem);
  stacks_ids_dispose(&read.functions, read.mem);
  sp_mem_free(read.mem, read.sums);
  sp_stack_rows_dispose(&read.rows);
  if (st)
    sp_stack_tree_free(read.tree);
  else
    *out = read.tree;
  return st;
}

spanprof_status sp_store_stacks(sp_store *store, const sp_selector *selector,
                                sp_stack_tree **out) {
  return stacks_run(store, selector, NULL, out);
}

spanprof_status sp_store_samples(sp_store *store, const sp_selector *selector,
                                 sp_stack_tree **out) {
  sp_sample_sums samples = {.mem = sp_select_mem(store, selector)};
  const spanprof_status st = stacks_run(store, selector, &samples, out);

  sp_sample_sums_dispose(&samples);
  return st;
}
