#include <string.h>

#include "sample_sums.h"
#include "server/store/tables/stack_rows.h"
#include "stack_fold.h"
#include "stack_sums.h"
#include "tree_names.h"
#include "util/system/status.h"

/* Memory limit for one tree. */
#define STACKS_BYTES_MAX ((size_t)96 << 20)

/* Each stack needs a node, and while the stacks are read, a row and a number.
 * More stacks are folded (stack_fold.h). */
#define STACKS_MAX (STACKS_BYTES_MAX / (sizeof(sp_tree_node) + 16))

typedef struct stacks_read {
  const sp_mem *mem;
  sqlite3 *db;
  sp_select select;
  sp_stack_sums sums;
  sp_stack_rows rows;
  sp_row_numbers locations;
  sp_stack_tree *tree;
  sp_sample_sums *samples; /* NULL: sums by series and span are not requested */
} stacks_read;

static spanprof_status stacks_sample(void *data, sp_select_entry *entry,
                                     const sp_block *block,
                                     const sp_block_sample *sample) {
  stacks_read *read = data;
  uint32_t number;
  spanprof_status st = sp_stack_sums_add(
      &read->sums, entry, read->select.source, block, sample, &number);

  if (!st && read->samples)
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

/* Make the nodes of the tree: first the root, then the rows in reverse order,
 * so that a caller comes before its callees. */
static spanprof_status stacks_nodes(stacks_read *read) {
  sp_stack_rows *rows = &read->rows;
  const size_t stacks = read->sums.stacks.count;
  uint32_t *node_of;
  spanprof_status st =
      sp_stack_tree_array(read->tree, stacks, sizeof *node_of, &node_of);
  size_t i;

  if (!st)
    st = sp_stack_rows_read(rows, read->db, read->tree->cancel,
                            read->sums.stacks.ids, stacks, node_of);
  if (!st)
    st = sp_stack_tree_array(read->tree, rows->count, sizeof *read->tree->nodes,
                             &read->tree->nodes);
  if (st)
    return st;
  for (i = 0; !st && i < rows->count; i++) {
    sp_tree_node *node = &read->tree->nodes[rows->count - i];

    if (rows->callers[i] != SP_STACK_ROW_NONE)
      node->parent = (uint32_t)rows->count - rows->callers[i];
    st = sp_row_numbers_get(&read->locations, read->mem, rows->locations[i],
                            STACKS_MAX, &node->location);
  }
  /* A sample without a stack belongs to no frame, so it appears only in the
   * sums by series (read->samples). */
  for (i = 0; i < stacks; i++) {
    if (node_of[i] == SP_STACK_ROW_NONE) {
      node_of[i] = 0;
      continue;
    }
    node_of[i] = (uint32_t)rows->count - node_of[i];
    read->tree->nodes[node_of[i]].self = read->sums.sums[i].value;
    read->tree->nodes[node_of[i]].count = read->sums.sums[i].count;
  }
  read->tree->node_count = rows->count + 1;
  if (!st && read->samples)
    st = sp_sample_sums_place(read->samples, node_of, read->tree);
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
  sp_stack_sums_end(&read->sums);
  read->tree->profile_count = read->select.profile_count;
  read->tree->is_counted = !read->sums.is_uncounted;
  if (!st && read->samples)
    st = sp_sample_sums_label(read->samples, read->tree);
  sp_select_dispose(&read->select);
  if (!st)
    st = stacks_nodes(read);
  return st ? st
            : sp_tree_names_read(read->tree, read->mem, read->db,
                                 &read->locations);
}

static spanprof_status stacks_new_tree(const sp_mem *mem, sp_cancel *cancel,
                                       sp_stack_tree **out) {
  *out = sp_mem_zero(mem, sizeof **out);
  if (!*out)
    return SPANPROF_ERR_NOMEM;
  sp_arena_init(&(*out)->arena, mem, STACKS_BYTES_MAX);
  (*out)->cancel = cancel;
  return SPANPROF_OK;
}

/* Read all stacks into one tree. Returns SPANPROF_ERR_LIMIT if there are too
 * many. */
static spanprof_status stacks_whole(sp_store *store, sqlite3 *db,
                                    const sp_selector *selector,
                                    sp_sample_sums *samples,
                                    sp_stack_tree *tree) {
  const sp_mem *mem = sp_select_mem(store, selector);
  stacks_read read = {.mem = mem,
                      .db = db,
                      .tree = tree,
                      .samples = samples,
                      .sums = {.mem = mem, .count_max = STACKS_MAX},
                      .rows = {.mem = mem, .count_max = STACKS_MAX}};
  spanprof_status st;

  if (samples)
    samples->select = &read.select;
  st = stacks_tree(&read, store, selector);
  sp_stack_sums_dispose(&read.sums);
  sp_row_numbers_dispose(&read.locations, mem);
  sp_stack_rows_dispose(&read.rows);
  return st;
}

static spanprof_status stacks_run(sp_store *store, const sp_selector *selector,
                                  sp_sample_sums *samples,
                                  sp_stack_tree **out) {
  const sp_mem *mem = sp_select_mem(store, selector);
  sp_store_reader *reader;
  spanprof_status st =
      sp_store_reader_acquire_for(store, selector->cancel, &reader);

  *out = NULL;
  if (st)
    return st;
  st = stacks_new_tree(mem, selector->cancel, out);
  if (!st)
    st = stacks_whole(store, reader->db, selector, samples, *out);
  if (st == SPANPROF_ERR_LIMIT) {
    sp_stack_tree_free(*out);
    if (samples)
      sp_sample_sums_clear(samples);
    st = stacks_new_tree(mem, selector->cancel, out);
    if (!st)
      st = sp_stack_fold(store, reader->db, selector, &sp_stack_fold_default,
                         samples, *out);
  }
  sp_store_reader_release(store, reader);
  if (st) {
    sp_stack_tree_free(*out);
    *out = NULL;
  }
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
