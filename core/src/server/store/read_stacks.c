#include <stdlib.h>
#include <string.h>

#include "../../util/status.h"
#include "../model/sum.h"
#include "columns.h"
#include "sample_sums.h"

/* What one tree may take of memory. */
#define STACKS_BYTES_MAX ((size_t)96 << 20)

/* Each becomes a node, a place in the order of ids, and its number. */
#define STACKS_MAX \
  (STACKS_BYTES_MAX / (sizeof(sp_tree_node) + sizeof(stacks_order) + 4))

/* Ids of the store, each once, with a number of ours. */
typedef struct stacks_ids {
  uint32_t *ids;
  size_t count;
  size_t room;
  sp_index index;
} stacks_ids;

typedef struct stacks_order {
  uint32_t id;
  uint32_t number;
} stacks_order;

typedef struct stacks_sum {
  int64_t value, count;
} stacks_sum;

typedef struct stacks_read {
  const sp_mem *mem;
  sqlite3 *db;
  sp_select select;
  stacks_ids stacks;
  stacks_sum *sums; /* of each of `stacks` */
  size_t sum_room;
  uint32_t *parents; /* ids: of each of `stacks` */
  uint32_t *places;  /* ids of locations, likewise */
  size_t parent_room, place_room;
  stacks_ids locations;
  stacks_ids functions;
  sqlite3_stmt *statement;
  sp_stack_tree *tree;
  sp_sample_sums *samples; /* NULL: they are not asked for */
} stacks_read;

static spanprof_status stacks_too_many(void) {
  return sp_fail(SPANPROF_ERR_LIMIT,
                 "the query takes too many stacks: narrow it down");
}

static spanprof_status stacks_number(const sp_mem *mem, stacks_ids *ids,
                                     uint32_t id, uint32_t *number) {
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
  st =
      sp_mem_reserve(mem, &array, &ids->room, ids->count + 1, sizeof *ids->ids);
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

/* Room for a further number in `array`, zero at first. */
static spanprof_status stacks_room(const sp_mem *mem, void *array_of,
                                   size_t *room, size_t count, size_t item) {
  const size_t before = *room;
  void *array;
  spanprof_status st;

  memcpy(&array, array_of, sizeof array);
  st = sp_mem_reserve(mem, &array, room, count, item);
  if (!st)
    memset((char *)array + before * item, 0, (*room - before) * item);
  memcpy(array_of, &array, sizeof array);
  return st;
}

static spanprof_status stacks_sample(void *data, sp_select_entry *entry,
                                     const sp_block *block,
                                     const sp_block_sample *sample) {
  const int64_t *values = &block->values[sample->values];
  stacks_read *read = data;
  uint32_t number;
  spanprof_status st =
      stacks_number(read->mem, &read->stacks, sample->stack, &number);

  if (!st)
    st = stacks_room(read->mem, &read->sums, &read->sum_room,
                     read->stacks.count, sizeof *read->sums);
  if (st)
    return st;
  sp_increase(&read->sums[number].value, values[entry->type]);
  sp_increase(&read->sums[number].count, sp_sample_count(entry, values));
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

/* One row of a table by its id: *code is SQLITE_ROW, or the store is
 * damaged. */
static spanprof_status stacks_row(stacks_read *read, const char *sql,
                                  uint32_t id) {
  int code;
  spanprof_status st = sp_database_prepare(read->db, &read->statement, sql);

  if (st)
    return st;
  sqlite3_reset(read->statement);
  sqlite3_bind_int64(read->statement, 1, id);
  st = sp_database_step(read->statement, &code);
  if (!st && code != SQLITE_ROW)
    st = sp_fail(SPANPROF_ERR_FORMAT, "the store misses a stack's frame");
  return st;
}

static void stacks_rows_end(stacks_read *read) {
  sqlite3_finalize(read->statement);
  read->statement = NULL;
}

/* The stacks' callers, and theirs, to the outermost: `stacks` grows. */
static spanprof_status stacks_parents(stacks_read *read) {
  const sp_mem *mem = read->mem;
  uint32_t number;
  spanprof_status st = stacks_number(mem, &read->stacks, 0, &number);
  size_t i;

  for (i = 0; !st && i < read->stacks.count; i++) {
    st = stacks_room(mem, &read->parents, &read->parent_room, i + 1,
                     sizeof *read->parents);
    if (!st)
      st = stacks_room(mem, &read->places, &read->place_room, i + 1,
                       sizeof *read->places);
    if (st || read->stacks.ids[i] == 0)
      continue;
    st = stacks_row(read, "SELECT parent, location FROM stack WHERE id=?1",
                    read->stacks.ids[i]);
    if (st)
      continue;
    read->parents[i] = (uint32_t)sqlite3_column_int64(read->statement, 0);
    read->places[i] = (uint32_t)sqlite3_column_int64(read->statement, 1);
    if (read->parents[i] >= read->stacks.ids[i])
      st = sp_fail(SPANPROF_ERR_FORMAT, "a stack of the store is damaged");
    else
      st = stacks_number(mem, &read->stacks, read->parents[i], &number);
  }
  stacks_rows_end(read);
  return st ? st
            : stacks_room(mem, &read->sums, &read->sum_room, read->stacks.count,
                          sizeof *read->sums);
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

/* Nodes by id: a caller's is the lower, so it comes first; the root is 0. */
static spanprof_status stacks_nodes(stacks_read *read) {
  const size_t count = read->stacks.count;
  stacks_order *order;
  uint32_t *node_of, parent = 0;
  spanprof_status st = stacks_new(read, count, sizeof *order, &order);
  size_t i;

  if (!st)
    st = stacks_new(read, count, sizeof *node_of, &node_of);
  if (!st)
    st = stacks_new(read, count, sizeof *read->tree->nodes, &read->tree->nodes);
  if (st)
    return st;
  for (i = 0; i < count; i++)
    order[i] = (stacks_order){read->stacks.ids[i], (uint32_t)i};
  qsort(order, count, sizeof *order, stacks_order_compare);
  for (i = 0; !st && i < count; i++) {
    const uint32_t number = order[i].number;
    sp_tree_node *node = &read->tree->nodes[i];

    node_of[number] = (uint32_t)i;
    /* A sample without a stack makes a series, and belongs to no frame. */
    if (order[i].id == 0)
      continue;
    node->self = read->sums[number].value;
    node->count = read->sums[number].count;
    st =
        stacks_number(read->mem, &read->stacks, read->parents[number], &parent);
    node->parent = node_of[parent];
    if (!st)
      st = stacks_number(read->mem, &read->locations, read->places[number],
                         &node->location);
  }
  read->tree->node_count = count;
  if (!st && read->samples)
    st = sp_sample_sums_place(read->samples, node_of, read->tree);
  return st;
}

static spanprof_status stacks_location(stacks_read *read,
                                       sp_tree_location *location) {
  sp_column_reader reader =
      sp_column_reader_of(sqlite3_column_blob(read->statement, 0),
                          (size_t)sqlite3_column_bytes(read->statement, 0));
  const size_t most = (size_t)(reader.end - reader.at) / 2;
  sp_tree_line *lines;
  spanprof_status st = stacks_new(read, most, sizeof *lines, &lines);

  if (st)
    return st;
  location->lines = lines;
  location->address = sp_get_number(&reader);
  while (!st && reader.at < reader.end && !reader.broken) {
    sp_tree_line *line = &lines[location->line_count++];

    st = stacks_number(read->mem, &read->functions,
                       (uint32_t)sp_get_number(&reader), &line->function);
    line->line = sp_get_signed(&reader);
  }
  return st;
}

static spanprof_status stacks_locations(stacks_read *read) {
  sp_stack_tree *tree = read->tree;
  spanprof_status st = stacks_new(read, read->locations.count,
                                  sizeof *tree->locations, &tree->locations);
  size_t i;

  tree->location_count = read->locations.count;
  for (i = 0; !st && i < read->locations.count; i++) {
    st = stacks_row(read, "SELECT lines FROM location WHERE id=?1",
                    read->locations.ids[i]);
    if (!st)
      st = stacks_location(read, &tree->locations[i]);
  }
  stacks_rows_end(read);
  return st;
}

static spanprof_status stacks_text(stacks_read *read, int column,
                                   const char **out) {
  const size_t size = (size_t)sqlite3_column_bytes(read->statement, column);
  char *copy;
  spanprof_status st = stacks_new(read, size, 1, &copy);

  if (!st && size)
    memcpy(copy, sqlite3_column_text(read->statement, column), size);
  *out = copy;
  return st;
}

static spanprof_status stacks_functions(stacks_read *read) {
  sp_stack_tree *tree = read->tree;
  spanprof_status st = stacks_new(read, read->functions.count,
                                  sizeof *tree->functions, &tree->functions);
  size_t i;

  tree->function_count = read->functions.count;
  for (i = 0; !st && i < read->functions.count; i++) {
    sp_tree_function *function = &tree->functions[i];

    st = stacks_row(read,
                    "SELECT n.text, f.text, start_line FROM function JOIN text "
                    "n ON n.id=name JOIN text f ON f.id=file WHERE "
                    "function.id=?1",
                    read->functions.ids[i]);
    if (!st)
      st = stacks_text(read, 0, &function->name);
    if (!st)
      st = stacks_text(read, 1, &function->file);
    if (!st)
      function->start_line = sqlite3_column_int64(read->statement, 2);
  }
  stacks_rows_end(read);
  return st;
}

static spanprof_status stacks_tree(stacks_read *read, sp_store *store,
                                   const sp_selector *selector) {
  const sp_select_sink sink = {.data = read,
                               .totals = !read->samples,
                               .sample = stacks_sample,
                               .run_end = stacks_run_end};
  spanprof_status st;

  st = sp_select_run(&read->select, store, read->db, selector, &sink);
  read->tree->profile_count = read->select.profile_count;
  if (!st && read->samples)
    st = sp_sample_sums_label(read->samples, read->tree);
  sp_select_dispose(&read->select);
  if (!st)
    st = stacks_parents(read);
  if (!st)
    st = stacks_nodes(read);
  if (!st)
    st = stacks_locations(read);
  return st ? st : stacks_functions(read);
}

static spanprof_status stacks_run(sp_store *store, const sp_selector *selector,
                                  sp_sample_sums *samples,
                                  sp_stack_tree **out) {
  stacks_read read = {.mem = sp_select_mem(store, selector),
                      .samples = samples};
  sp_store_reader *reader;
  spanprof_status st =
      sp_store_reader_take_for(store, selector->cancel, &reader);

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
  stacks_rows_end(&read);
  sp_store_reader_give(store, reader);
  stacks_ids_dispose(&read.stacks, read.mem);
  stacks_ids_dispose(&read.locations, read.mem);
  stacks_ids_dispose(&read.functions, read.mem);
  sp_mem_free(read.mem, read.sums);
  sp_mem_free(read.mem, read.parents);
  sp_mem_free(read.mem, read.places);
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
