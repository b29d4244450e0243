/* Prints functions with their callers and callees (--peek), and the call tree
 * (--tree). */
#include <inttypes.h>
#include <stdlib.h>

#include "command/report/report_unit.h"
#include "report_print.h"
#include "util/system/status.h"

/* The call tree omits branches below 1/CALLS_SMALL of the total value. */
#define CALLS_SMALL 100

static void peek_print_head(const sp_report *report, FILE *out) {
  char heading[SP_REPORT_VALUE_BYTES];

  sp_report_heading(report->type, report->unit, heading);
  fprintf(out, "\n%11s %7s %8s     \xc2\xb1  caller\n", heading, "share",
          "samples");
  fprintf(out, "%35s function: self, total\n%37s callee\n", "", "");
}

static void peek_print_itself(const sp_report *report, uint32_t number,
                              FILE *out) {
  const sp_report_function *function = &report->functions[number];
  char own[SP_REPORT_VALUE_BYTES], total[SP_REPORT_VALUE_BYTES];

  sp_report_value(function->self.value, report->unit, own);
  sp_report_value(function->total.value, report->unit, total);
  fprintf(out, "%35s %s %s  ", "", own, total);
  sp_text_function(report, number, out);
}

void sp_report_print_peek(sp_report_peek *peek, sp_report_printer *printer) {
  const sp_report *report = peek->report;
  FILE *out = printer->out;
  size_t i, functions = 0, row = 0;

  sp_text_head(report, out);
  sp_report_peek_sort(peek);
  if (peek->count == 0) {
    fputs("no function matches\n", out);
    return;
  }
  peek_print_head(report, out);
  for (i = 0; i < peek->count; i++) {
    const sp_peek_edge *edge = &peek->edges[i];

    if (i == 0 || edge->function != edge[-1].function) {
      if (printer->top && functions == printer->top)
        break;
      functions++;
      row = 0;
      fputs("\n", out);
    }
    if (edge->kind == SP_PEEK_ITSELF) {
      peek_print_itself(report, edge->function, out);
      row = 0;
      continue;
    }
    if (printer->top && ++row > printer->top)
      continue;
    sp_text_value(report, edge->amount.value, out);
    sp_text_samples(printer, edge->amount.samples);
    fputs(edge->kind == SP_PEEK_CALLEE ? "   " : " ", out);
    sp_text_function(report, edge->neighbour, out);
  }
  sp_text_explain_unranked(printer);
}

/* A node of the call tree with the total of its subtree, and the position of
 * its children in the printing order. */
typedef struct tree_node {
  uint32_t number;
  uint32_t parent;
  uint32_t first; /* index of its first child in the sorted nodes */
  uint32_t children;
  sp_amount total;
} tree_node;

/* Siblings are adjacent, the largest first. */
static int tree_order(const void *a, const void *b) {
  const tree_node *left = a, *right = b;

  if (left->parent != right->parent)
    return left->parent < right->parent ? -1 : 1;
  if (left->total.value != right->total.value)
    return left->total.value < right->total.value ? 1 : -1;
  return left->number < right->number ? -1 : left->number > right->number;
}

/* Returns the nodes by number, followed by the same nodes in printing order, or
 * NULL if memory ran out. */
static tree_node *tree_nodes(const sp_report *report,
                             const sp_report_tree *tree) {
  tree_node *nodes =
      sp_mem_new(report->mem, (2 * tree->calls.node_count + 1) * sizeof *nodes);
  tree_node *sorted = nodes ? nodes + tree->calls.node_count : NULL;
  size_t i;

  if (!nodes)
    return NULL;
  for (i = 0; i < tree->calls.node_count; i++)
    nodes[i] = (tree_node){.number = (uint32_t)i,
                           .parent = tree->calls.nodes[i].parent,
                           .total = sp_report_tree_self(tree, i)};
  for (i = tree->calls.node_count; i-- > 1;)
    sp_amount_add(&nodes[nodes[i].parent].total, &nodes[i].total);
  for (i = 0; i < tree->calls.node_count; i++)
    sorted[i] = nodes[i];
  qsort(sorted + 1, tree->calls.node_count - 1, sizeof *sorted, tree_order);
  for (i = tree->calls.node_count; i-- > 1;) {
    nodes[sorted[i].parent].first = (uint32_t)i;
    nodes[sorted[i].parent].children++;
  }
  return nodes;
}

static bool tree_is_small(const sp_report *report, const tree_node *node,
                          const sp_report_printer *printer) {
  return printer->top &&
         node->total.value < report->selected.value / CALLS_SMALL;
}

static void tree_print_line(const sp_report *report, const sp_report_tree *tree,
                            const tree_node *node, size_t depth,
                            sp_report_printer *printer) {
  sp_text_value(report, node->total.value, printer->out);
  sp_text_value(report, sp_report_tree_self(tree, node->number).value,
                printer->out);
  sp_text_samples(printer, node->total.samples);
  fprintf(printer->out, " %*s", (int)(2 * depth), "");
  sp_text_function(report, tree->calls.nodes[node->number].function,
                   printer->out);
}

/* Print the tree without recursion, because a stack may have any depth. `trail`
 * has, for each level, the position of the present node among its siblings. */
static void tree_print(const sp_report *report, const sp_report_tree *tree,
                       const tree_node *nodes, uint32_t *trail,
                       sp_report_printer *printer) {
  const tree_node *sorted = nodes + tree->calls.node_count;
  uint32_t above = 0;
  size_t depth = 0;

  trail[0] = 0;
  for (;;) {
    const uint32_t place = trail[depth];
    const tree_node *node = place < nodes[above].children
                                ? &sorted[nodes[above].first + place]
                                : NULL;

    /* The siblings are sorted by size, so those after a small one are small,
     * too. */
    if (!node || tree_is_small(report, node, printer)) {
      if (depth-- == 0)
        return;
      above = nodes[above].parent;
      trail[depth]++;
      continue;
    }
    tree_print_line(report, tree, node, depth, printer);
    above = node->number;
    trail[++depth] = 0;
  }
}

spanprof_status sp_report_print_tree(const sp_report *report,
                                     const sp_report_tree *tree,
                                     sp_report_printer *printer) {
  char heading[SP_REPORT_VALUE_BYTES];
  tree_node *nodes;
  uint32_t *trail;

  sp_text_head(report, printer->out);
  if (tree->calls.node_count == 0) {
    fputs("no samples match\n", printer->out);
    return SPANPROF_OK;
  }
  nodes = tree_nodes(report, tree);
  trail = sp_mem_new(report->mem, (tree->depth + 2) * sizeof *trail);
  if (nodes && trail) {
    sp_report_heading(report->type, report->unit, heading);
    fprintf(printer->out, "\n%11s %7s %11s %7s %8s     \xc2\xb1  calls (%s)\n",
            "total", "share", "self", "share", "samples", heading);
    tree_print(report, tree, nodes, trail, printer);
    sp_text_explain_unranked(printer);
  }
  sp_mem_free(report->mem, nodes);
  sp_mem_free(report->mem, trail);
  return nodes && trail ? SPANPROF_OK
                        : sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
}
