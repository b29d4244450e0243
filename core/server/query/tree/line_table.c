#include "line_table.h"

#include <stdlib.h>
#include <string.h>

#include "server/model/sum.h"

typedef struct line_sums {
  sp_line_table *table;
  const sp_stack_tree *stacks;
  bool *wanted;    /* for each function: whether it is the one to sum */
  int64_t *totals; /* of each node */
  uint32_t *calls; /* for each node: the node or its nearest caller whose
                    * location contains the function; 0: none */
  uint32_t *rows;  /* for each node: the row whose `self` gets the node's self
                    * value, or SP_INDEX_NONE */
} line_sums;

/* Find or add the row of a line. */
static spanprof_status line_row(sp_line_table *table, int64_t line,
                                uint32_t *out) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, (uint64_t)line);
  uint32_t at, i = sp_index_first(&table->index, hash, &at);
  spanprof_status st;

  while (i != SP_INDEX_NONE && table->rows[i].line != line)
    i = sp_index_next(&table->index, hash, &at);
  *out = i;
  if (i != SP_INDEX_NONE)
    return SPANPROF_OK;
  st = sp_index_reserve(&table->index, table->mem);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->rows, &table->capacity,
                        table->count + 1, sizeof *table->rows);
  if (st)
    return st;
  *out = (uint32_t)table->count;
  table->rows[table->count++] = (sp_line_row){.line = line};
  sp_index_add(&table->index, hash, *out);
  return SPANPROF_OK;
}

/* Returns whether this line of the function is one of the lines of a location,
 * from the index `first`. */
static bool line_is_in(const line_sums *sums, const sp_tree_location *location,
                       uint32_t first, int64_t line) {
  uint32_t i;

  for (i = first; i < location->line_count; i++)
    if (location->lines[i].line == line &&
        sums->wanted[location->lines[i].function])
      return true;
  return false;
}

/* Set *out to whether a caller of a node is at this line of the function. */
static spanprof_status line_is_above(const line_sums *sums, uint32_t node,
                                     int64_t line, bool *out) {
  const sp_tree_node *nodes = sums->stacks->nodes;
  spanprof_status st = SPANPROF_OK;
  uint32_t i = sums->calls[nodes[node].parent];

  for (*out = false; !st && !*out && i; i = sums->calls[nodes[i].parent]) {
    *out =
        line_is_in(sums, &sums->stacks->locations[nodes[i].location], 0, line);
    st = sp_cancel_step(sums->stacks->cancel);
  }
  return st;
}

/* Add the total of a node to the row of one of its lines, unless a caller is at
 * the same line. */
static spanprof_status line_add(line_sums *sums, uint32_t node,
                                uint32_t number) {
  const sp_tree_node *from = &sums->stacks->nodes[node];
  const sp_tree_location *location = &sums->stacks->locations[from->location];
  const int64_t line = location->lines[number].line;
  sp_line_table *table = sums->table;
  uint32_t row;
  bool counted;
  spanprof_status st = line_row(table, line, &row);

  if (number == 0)
    sums->rows[node] = row;
  if (st || line_is_in(sums, location, number + 1, line))
    return st;
  st = line_is_above(sums, node, line, &counted);
  if (!st && !counted)
    sp_increase(&table->rows[row].total, sums->totals[node]);
  return st;
}

/* Add the values of a node. The self value of a location without names belongs
 * to its caller, as in a function tree. */
static spanprof_status line_add_node(line_sums *sums, uint32_t node) {
  const sp_tree_node *from = &sums->stacks->nodes[node];
  const sp_tree_location *location = &sums->stacks->locations[from->location];
  const uint32_t caller = sums->calls[from->parent];
  spanprof_status st = SPANPROF_OK;
  uint32_t i;

  sums->calls[node] = caller;
  sums->rows[node] =
      location->line_count > 0 ? SP_INDEX_NONE : sums->rows[from->parent];
  for (i = 0; !st && i < location->line_count; i++) {
    if (!sums->wanted[location->lines[i].function])
      continue;
    sums->calls[node] = node;
    st = line_add(sums, node, i);
  }
  if (st)
    return st;
  if (!caller && sums->calls[node])
    sp_increase(&sums->table->total, sums->totals[node]);
  if (sums->rows[node] != SP_INDEX_NONE) {
    sp_increase(&sums->table->self, from->self);
    sp_increase(&sums->table->rows[sums->rows[node]].self, from->self);
  }
  return sp_cancel_step(sums->stacks->cancel);
}

/* Find the functions with the name and file. There are several if their first
 * lines differ. */
static void line_find(line_sums *sums, const char *name, const char *file) {
  const sp_stack_tree *stacks = sums->stacks;
  int64_t *start = &sums->table->start_line;
  size_t i;

  for (i = 0; i < stacks->function_count; i++) {
    const sp_tree_function *function = &stacks->functions[i];

    sums->wanted[i] = strcmp(function->name, name) == 0 &&
                      (!file || strcmp(function->file, file) == 0);
    if (sums->wanted[i] && function->start_line > 0 &&
        (*start == 0 || function->start_line < *start))
      *start = function->start_line;
  }
}

static int line_order(const void *a, const void *b) {
  const int64_t left = ((const sp_line_row *)a)->line;
  const int64_t right = ((const sp_line_row *)b)->line;

  return (left > right) - (left < right);
}

static spanprof_status line_sum(line_sums *sums, const char *name,
                                const char *file) {
  const sp_tree_node *nodes = sums->stacks->nodes;
  const size_t count = sums->stacks->node_count;
  sp_line_table *table = sums->table;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  line_find(sums, name, file);
  for (i = 0; i < count; i++)
    sums->totals[i] = nodes[i].self;
  for (i = count - 1; i > 0; i--)
    sp_increase(&sums->totals[nodes[i].parent], sums->totals[i]);
  table->all = sums->totals[0];
  sums->calls[0] = 0;
  sums->rows[0] = SP_INDEX_NONE;
  for (i = 1; !st && i < count; i++)
    st = line_add_node(sums, (uint32_t)i);
  if (table->count > 0)
    qsort(table->rows, table->count, sizeof *table->rows, line_order);
  return st;
}

spanprof_status sp_line_table_make(sp_line_table *out, const sp_mem *mem,
                                   const sp_stack_tree *stacks,
                                   const char *name, const char *file) {
  line_sums sums = {.table = out, .stacks = stacks};
  spanprof_status st = SPANPROF_ERR_NOMEM;

  *out = (sp_line_table){.mem = mem};
  sums.wanted =
      sp_mem_new(mem, (stacks->function_count + 1) * sizeof *sums.wanted);
  sums.totals = sp_mem_new(mem, stacks->node_count * sizeof *sums.totals);
  sums.calls = sp_mem_new(mem, stacks->node_count * sizeof *sums.calls);
  sums.rows = sp_mem_new(mem, stacks->node_count * sizeof *sums.rows);
  if (sums.wanted && sums.totals && sums.calls && sums.rows)
    st = line_sum(&sums, name, file);
  sp_mem_free(mem, sums.wanted);
  sp_mem_free(mem, sums.totals);
  sp_mem_free(mem, sums.calls);
  sp_mem_free(mem, sums.rows);
  return st;
}

void sp_line_table_dispose(sp_line_table *table) {
  if (!table->mem)
    return;
  sp_index_dispose(&table->index, table->mem);
  sp_mem_free(table->mem, table->rows);
  *table = (sp_line_table){0};
}
