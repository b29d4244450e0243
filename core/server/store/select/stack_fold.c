#include "stack_fold.h"

#include <stdlib.h>
#include <string.h>

#include "frame_keys.h"
#include "profile/tables/call_tree.h"
#include "server/model/node_cut.h"
#include "server/model/sum.h"
#include "server/store/tables/stack_rows.h"
#include "tree_names.h"
#include "util/system/status.h"

const sp_stack_fold_limits sp_stack_fold_default = {
    .kept_nodes = (size_t)1 << 18,
    .nodes = (size_t)1 << 20,
    .stacks = (size_t)1 << 20,
    .part_stacks = 8192,
    .part_frames = (size_t)1 << 19,
    .stack_frames = 2500000};

/* Flag in the number of a frame's node: the frame has no node in the tree, and
 * the number is that of its nearest caller with a node. */
#define FOLD_OTHER (UINT32_C(1) << 31)

typedef struct fold_order {
  sp_row_id id;
  uint32_t number; /* of the stack */
} fold_order;

/* Values of a chosen node, and of the frames that are folded into its child. */
typedef struct fold_value {
  int64_t self, count;
  int64_t other, other_count;
  bool has_other;
  uint32_t other_node; /* number of the child */
} fold_value;

typedef struct stack_fold {
  const sp_mem *mem;
  sp_store *store;
  sqlite3 *db;
  const sp_selector *selector;
  const sp_stack_fold_limits *limits;
  sp_stack_tree *tree;
  sp_select select;
  sp_sample_sums *samples;
  sp_stack_sums sums;
  /* Only stacks with ids from `from_id` to below `end_id` are added up. */
  sp_row_id from_id, end_id;
  size_t scan_count; /* how often the blocks have been read */
  sp_frame_keys keys;
  sp_call_tree calls; /* functions are keys of sp_frame_keys; values are totals
                       * while the nodes are chosen */
  int64_t smallest;   /* smallest total that the last cut kept; 0: no cut yet */
  fold_value *values; /* of each node; NULL while the nodes are chosen */
  fold_order *order;  /* the stacks, in the order of their ids */
  size_t part;        /* number of stacks whose frames are read at a time */
  sp_stack_rows rows; /* the frames of a part of the stacks */
  uint32_t *node_of;  /* the node of each stack, with FOLD_OTHER */
} stack_fold;

static spanprof_status fold_sample(void *data, sp_select_entry *entry,
                                   const sp_block *block,
                                   const sp_block_sample *sample) {
  stack_fold *fold = data;
  uint32_t number;
  spanprof_status st;

  if (sample->stack < fold->from_id || sample->stack >= fold->end_id)
    return SPANPROF_OK;
  /* `samples` refers to stacks by their numbers, which sp_stack_sums_halve()
   * changes. With `samples`, all stacks must therefore fit in memory. */
  if (fold->sums.stacks.count == fold->limits->stacks && !fold->samples) {
    st = sp_stack_sums_halve(&fold->sums, &fold->from_id);
    if (st || sample->stack < fold->from_id)
      return st;
  }
  st = sp_stack_sums_add(&fold->sums, entry, fold->select.source, block, sample,
                         &number);
  if (!st && fold->samples)
    st = sp_sample_sums_add(fold->samples, entry, number, block, sample);
  return st;
}

static spanprof_status fold_run_end(void *data, const sp_block *block,
                                    const sp_block_sample *first) {
  stack_fold *fold = data;

  if (fold->samples)
    sp_sample_sums_time(fold->samples, &block->profiles[first->profile]);
  return SPANPROF_OK;
}

static int fold_compare(const void *a_of, const void *b_of) {
  const fold_order *a = a_of, *b = b_of;

  return a->id < b->id ? -1 : a->id > b->id;
}

/* Add up the stacks with ids below `end_id`: all of them, or those with the
 * highest ids. Sets `from_id` to the lowest id of a stack in the sums. */
static spanprof_status fold_scan(stack_fold *fold) {
  const sp_select_sink sink = {.data = fold,
                               .totals = !fold->samples,
                               .sample = fold_sample,
                               .run_end = fold_run_end};
  spanprof_status st;
  size_t i;

  fold->from_id = 0;
  sp_stack_sums_clear(&fold->sums);
  st = sp_select_run(&fold->select, fold->store, fold->db, fold->selector,
                     &sink);
  sp_stack_sums_end(&fold->sums);
  fold->tree->profile_count = fold->select.profile_count;
  if (!st && fold->samples)
    st = sp_sample_sums_label(fold->samples, fold->tree);
  sp_select_dispose(&fold->select);
  if (st)
    return st;
  sp_mem_free(fold->mem, fold->order);
  fold->order = sp_mem_new(fold->mem,
                           (fold->sums.stacks.count + 1) * sizeof *fold->order);
  if (!fold->order)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < fold->sums.stacks.count; i++)
    fold->order[i] = (fold_order){fold->sums.stacks.ids[i], (uint32_t)i};
  if (fold->sums.stacks.count)
    qsort(fold->order, fold->sums.stacks.count, sizeof *fold->order,
          fold_compare);
  return SPANPROF_OK;
}

static int64_t fold_weight(const void *totals, size_t node) {
  return ((const int64_t *)totals)[node];
}

/* Keep the nodes with the largest totals. */
static spanprof_status fold_cut(stack_fold *fold) {
  sp_call_tree *calls = &fold->calls;
  bool *keeps = sp_mem_new(fold->mem, calls->node_count);
  sp_node_cut cut;
  spanprof_status st =
      keeps
          ? sp_node_cut_make(&cut, fold->mem, fold->limits->kept_nodes,
                             calls->node_count - 1, fold_weight, calls->values)
          : SPANPROF_ERR_NOMEM;
  size_t i;

  if (!st) {
    for (i = 1; i < calls->node_count; i++)
      keeps[i] = sp_node_cut_keeps(&cut, calls->values[i]);
    fold->smallest = cut.smallest;
    st = sp_call_tree_keep(calls, keeps);
  }
  sp_mem_free(fold->mem, keeps);
  return st ? st : sp_cancel_check(fold->selector->cancel);
}

/* Add up the total of each frame of a part. Callees come before callers. */
static void fold_totals(const stack_fold *fold, const fold_order *order,
                        size_t count, const uint32_t *row_of, int64_t *totals) {
  const sp_stack_rows *rows = &fold->rows;
  size_t i;

  for (i = 0; i < count; i++)
    if (row_of[i] != SP_STACK_ROW_NONE)
      sp_increase(&totals[row_of[i]], fold->sums.sums[order[i].number].value);
  for (i = 0; i < rows->count; i++)
    if (rows->callers[i] != SP_STACK_ROW_NONE)
      sp_increase(&totals[rows->callers[i]], totals[i]);
}

/* Choose the node of a frame, whose caller has the node *node, and add the
 * total of the frame. The total of a frame is at most that of its caller, so
 * the frame needs no node if the next cut would remove the caller. */
static spanprof_status fold_choose(stack_fold *fold, sp_row_id location,
                                   int64_t total, uint32_t *node) {
  uint32_t key;
  spanprof_status st;

  if (*node & FOLD_OTHER)
    return SPANPROF_OK;
  if (*node && *sp_call_tree_values(&fold->calls, *node) <= fold->smallest) {
    *node |= FOLD_OTHER;
    return SPANPROF_OK;
  }
  st = sp_frame_keys_get(&fold->keys, location, &key);
  if (!st)
    st = sp_call_tree_child(&fold->calls, node, key);
  if (!st)
    sp_increase(sp_call_tree_values(&fold->calls, *node), total);
  return st;
}

/* Find the node of a frame, whose caller has the node *node. */
static spanprof_status fold_find(stack_fold *fold, sp_row_id location,
                                 uint32_t *node) {
  uint32_t key;
  spanprof_status st;

  if (!(*node & FOLD_OTHER)) {
    st = sp_frame_keys_get(&fold->keys, location, &key);
    if (st || sp_call_tree_find(&fold->calls, node, key))
      return st;
  }
  *node |= FOLD_OTHER;
  fold->tree->folded_count++;
  return SPANPROF_OK;
}

/* Add a stack to its node. */
static void fold_add(stack_fold *fold, uint32_t stack, uint32_t node) {
  const sp_stack_sum *sum = &fold->sums.sums[stack];
  fold_value *value = &fold->values[node & ~FOLD_OTHER];

  if (fold->node_of)
    fold->node_of[stack] = node;
  if (node & FOLD_OTHER) {
    sp_increase(&value->other, sum->value);
    sp_increase(&value->other_count, sum->count);
    value->has_other = true;
  } else {
    sp_increase(&value->self, sum->value);
    sp_increase(&value->count, sum->count);
  }
}

/* Choose nodes for the stacks of a part, or add the stacks to the chosen nodes.
 * The rows of the part have been read; `row_of` has the innermost frame of each
 * stack. */
static spanprof_status fold_rows(stack_fold *fold, const fold_order *order,
                                 size_t count, const uint32_t *row_of) {
  const sp_stack_rows *rows = &fold->rows;
  const bool chooses = !fold->values;
  uint32_t *nodes = sp_mem_new(fold->mem, (rows->count + 1) * sizeof *nodes);
  int64_t *totals =
      sp_mem_zero(fold->mem, (chooses ? rows->count + 1 : 1) * sizeof *totals);
  spanprof_status st = nodes && totals ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  size_t i;

  if (!st && chooses)
    fold_totals(fold, order, count, row_of, totals);
  for (i = rows->count; !st && i-- > 0;) {
    const uint32_t caller = rows->callers[i];

    nodes[i] = caller == SP_STACK_ROW_NONE ? 0 : nodes[caller];
    st = chooses ? fold_choose(fold, rows->locations[i], totals[i], &nodes[i])
                 : fold_find(fold, rows->locations[i], &nodes[i]);
    if (!st)
      st = sp_cancel_step(fold->selector->cancel);
  }
  for (i = 0; !st && !chooses && i < count; i++)
    if (row_of[i] != SP_STACK_ROW_NONE)
      fold_add(fold, order[i].number, nodes[row_of[i]]);
  sp_mem_free(fold->mem, nodes);
  sp_mem_free(fold->mem, totals);
  return st;
}

/* Read the frames of a part of the stacks. *count is the number of stacks, and
 * is reduced if they have too many frames. */
static spanprof_status fold_read(stack_fold *fold, const fold_order *order,
                                 size_t *count, sp_row_id *ids,
                                 uint32_t *row_of) {
  spanprof_status st;
  size_t i;

  for (;;) {
    for (i = 0; i < *count; i++)
      ids[i] = order[i].id;
    fold->rows.count = 0;
    fold->rows.count_max =
        *count > 1 ? fold->limits->part_frames : fold->limits->stack_frames;
    st = sp_stack_rows_read(&fold->rows, fold->db, fold->selector->cancel, ids,
                            *count, row_of);
    if (st != SPANPROF_ERR_LIMIT || *count == 1)
      return st;
    fold->part = *count = *count / 2;
  }
}

/* Add the stacks whose sums are in memory to the tree. */
static spanprof_status fold_stacks(stack_fold *fold) {
  sp_row_id *ids =
      sp_mem_new(fold->mem, fold->limits->part_stacks * sizeof *ids);
  uint32_t *row_of =
      sp_mem_new(fold->mem, fold->limits->part_stacks * sizeof *row_of);
  spanprof_status st = ids && row_of ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  const size_t all = fold->sums.stacks.count;
  size_t at, count;

  for (at = 0; !st && at < all; at += count) {
    count = all - at < fold->part ? all - at : fold->part;
    st = fold_read(fold, fold->order + at, &count, ids, row_of);
    if (!st)
      st = fold_rows(fold, fold->order + at, count, row_of);
    if (!st && !fold->values && fold->calls.node_count > fold->limits->nodes)
      st = fold_cut(fold);
  }
  sp_mem_free(fold->mem, ids);
  sp_mem_free(fold->mem, row_of);
  return st;
}

/* Read all stacks once, those with the highest ids first. */
static spanprof_status fold_round(stack_fold *fold) {
  spanprof_status st = SPANPROF_OK;

  if (fold->scan_count == 1) /* the sums of all stacks are still in memory */
    return fold_stacks(fold);
  fold->end_id = UINT64_MAX;
  do {
    st = fold_scan(fold);
    if (!st)
      st = fold_stacks(fold);
    fold->end_id = fold->from_id;
    fold->scan_count++;
  } while (!st && fold->end_id);
  return st;
}

/* Make the nodes of the tree: the chosen nodes, and then the nodes of the
 * folded frames. *locations gets the rows of their locations. */
static spanprof_status fold_nodes(stack_fold *fold, sp_row_numbers *locations) {
  sp_stack_tree *tree = fold->tree;
  const sp_call_tree *calls = &fold->calls;
  size_t count = calls->node_count, i;
  spanprof_status st = SPANPROF_OK;

  for (i = 0; i < calls->node_count; i++)
    if (fold->values[i].has_other)
      fold->values[i].other_node = (uint32_t)count++;
  tree->nodes = sp_arena_new(&tree->arena, count, sizeof *tree->nodes);
  if (!tree->nodes)
    return tree->arena.st;
  tree->node_count = count;
  for (i = 0; !st && i < calls->node_count; i++) {
    tree->nodes[i] = (sp_tree_node){.parent = calls->nodes[i].parent,
                                    .self = fold->values[i].self,
                                    .count = fold->values[i].count};
    if (i > 0)
      st =
          sp_row_numbers_get(locations, fold->mem,
                             fold->keys.locations.ids[calls->nodes[i].function],
                             UINT32_MAX, &tree->nodes[i].location);
  }
  for (i = 0; !st && i < calls->node_count; i++)
    if (fold->values[i].has_other)
      tree->nodes[fold->values[i].other_node] =
          (sp_tree_node){.parent = (uint32_t)i,
                         .location = (uint32_t)locations->count,
                         .self = fold->values[i].other,
                         .count = fold->values[i].other_count};
  return st;
}

/* Append the location and the function of the folded frames. */
static spanprof_status fold_name_other(stack_fold *fold) {
  sp_stack_tree *tree = fold->tree;
  sp_tree_line *line = sp_arena_new(&tree->arena, 1, sizeof *line);
  const char *other = fold->selector->other;

  if (!line)
    return tree->arena.st;
  line->function = (uint32_t)tree->function_count;
  tree->functions[tree->function_count++] =
      (sp_tree_function){.name = other ? other : SP_TREE_OTHER, .file = ""};
  tree->locations[tree->location_count++] =
      (sp_tree_location){.lines = line, .line_count = 1};
  return SPANPROF_OK;
}

static spanprof_status fold_tree(stack_fold *fold) {
  sp_row_numbers locations = {0};
  size_t i;
  spanprof_status st = fold_nodes(fold, &locations);

  if (!st && fold->node_of) {
    for (i = 0; i < fold->sums.stacks.count; i++)
      if (fold->node_of[i] & FOLD_OTHER)
        fold->node_of[i] =
            fold->values[fold->node_of[i] & ~FOLD_OTHER].other_node;
    st = sp_sample_sums_place(fold->samples, fold->node_of, fold->tree);
  }
  if (!st)
    st = sp_tree_names_read(fold->tree, fold->mem, fold->db, &locations);
  if (!st)
    st = fold_name_other(fold);
  sp_row_numbers_dispose(&locations, fold->mem);
  return st;
}

static spanprof_status fold_run(stack_fold *fold) {
  spanprof_status st = sp_call_tree_init(&fold->calls, fold->mem, 1);

  if (!st)
    st = fold_round(fold);
  if (!st && fold->calls.node_count > fold->limits->kept_nodes + 1)
    st = fold_cut(fold);
  if (st)
    return st;
  fold->values =
      sp_mem_zero(fold->mem, fold->calls.node_count * sizeof *fold->values);
  if (fold->samples)
    fold->node_of = sp_mem_zero(fold->mem, (fold->sums.stacks.count + 1) *
                                               sizeof *fold->node_of);
  if (!fold->values || (fold->samples && !fold->node_of))
    return SPANPROF_ERR_NOMEM;
  st = fold_round(fold);
  fold->tree->is_counted = !fold->sums.is_uncounted;
  return st ? st : fold_tree(fold);
}

spanprof_status sp_stack_fold(sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_stack_fold_limits *limits,
                              sp_sample_sums *samples, sp_stack_tree *tree) {
  const sp_mem *mem = sp_select_mem(store, selector);
  stack_fold fold = {.mem = mem,
                     .store = store,
                     .db = db,
                     .selector = selector,
                     .limits = limits,
                     .tree = tree,
                     .samples = samples,
                     .sums = {.mem = mem, .count_max = limits->stacks},
                     .part = limits->part_stacks,
                     .rows = {.mem = mem}};
  spanprof_status st;

  if (samples)
    samples->select = &fold.select;
  sp_frame_keys_init(&fold.keys, mem, db, selector->merges_lines);
  st = fold_run(&fold);
  sp_stack_sums_dispose(&fold.sums);
  sp_frame_keys_dispose(&fold.keys);
  sp_call_tree_dispose(&fold.calls);
  sp_stack_rows_dispose(&fold.rows);
  sp_mem_free(mem, fold.values);
  sp_mem_free(mem, fold.order);
  sp_mem_free(mem, fold.node_of);
  return st;
}
