#include "report_tree.h"

#include "util/system/status.h"

enum { TREE_VALUE, TREE_SAMPLES, TREE_VALUES };

void sp_report_tree_init(sp_report_tree *tree, const sp_mem *mem) {
  *tree = (sp_report_tree){.mem = mem, .nodes_max = SP_REPORT_TREE_NODES_MAX};
}

void sp_report_tree_clear(sp_report_tree *tree) {
  sp_call_tree_dispose(&tree->calls);
  tree->depth = 0;
}

spanprof_status sp_report_tree_add(sp_report_tree *tree,
                                   const uint32_t *functions, size_t count,
                                   const sp_amount *amount) {
  spanprof_status st = SPANPROF_OK;
  uint32_t node = 0;
  int64_t *values;
  size_t i;

  if (tree->calls.node_count == 0)
    st = sp_call_tree_init(&tree->calls, tree->mem, TREE_VALUES);
  if (tree->calls.node_count + count > tree->nodes_max)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "more than %zu different calls: limit them with a filter "
                   "such as --focus",
                   tree->nodes_max);
  for (i = count; i > 0 && !st; i--)
    st = sp_call_tree_child(&tree->calls, &node, functions[i - 1]);
  if (st)
    return sp_fail(st, "out of memory");
  values = sp_call_tree_values(&tree->calls, node);
  values[TREE_VALUE] = sp_amount_sum(values[TREE_VALUE], amount->value);
  values[TREE_SAMPLES] = sp_amount_sum(values[TREE_SAMPLES], amount->samples);
  tree->last = node;
  tree->depth = (size_t)sp_max_u64(tree->depth, count);
  return SPANPROF_OK;
}

sp_amount sp_report_tree_self(const sp_report_tree *tree, size_t node) {
  const int64_t *values = sp_call_tree_values(&tree->calls, node);

  return (sp_amount){values[TREE_VALUE], values[TREE_SAMPLES]};
}
