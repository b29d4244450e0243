#include "report_folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/system/status.h"

typedef struct folded_line {
  uint32_t node;
  int64_t value;
} folded_line;

void sp_report_folded_init(sp_report_folded *folded, sp_report *report,
                           FILE *out) {
  memset(folded, 0, sizeof *folded);
  folded->report = report;
  folded->out = out;
  sp_report_tree_init(&folded->tree, report->mem);
}

void sp_report_folded_dispose(sp_report_folded *folded) {
  sp_report_tree_clear(&folded->tree);
}

spanprof_status sp_report_folded_stack(void *data, const uint32_t *functions,
                                       size_t count, const sp_amount *amount) {
  sp_report_folded *folded = data;
  spanprof_status st =
      sp_report_tree_add(&folded->tree, functions, count, amount);

  if (st != SPANPROF_ERR_LIMIT)
    return st;
  st = sp_report_folded_flush(folded);
  folded->report->type_fixed = true;
  return st ? st : sp_report_tree_add(&folded->tree, functions, count, amount);
}

void sp_report_folded_restart(void *data) {
  sp_report_folded *folded = data;

  sp_report_tree_clear(&folded->tree);
}

static int folded_order(const void *a, const void *b) {
  const folded_line *left = a, *right = b;

  if (left->value != right->value)
    return left->value < right->value ? 1 : -1;
  return left->node < right->node ? -1 : left->node > right->node;
}

/* Write the name of a function. `:` replaces each `;`, which separates
 * frames. */
static void folded_name(const sp_report *report, uint32_t function, FILE *out) {
  const uint32_t name = report->functions[function].name;
  size_t i, bytes;
  const char *text = sp_name_table_get(&report->names, name, &bytes);

  for (i = 0; i < bytes; i++)
    putc(text[i] == ';' ? ':' : text[i], out);
  if (report->functions[function].line)
    fprintf(out, ":%" PRId64, report->functions[function].line);
}

/* Write the stacks of the tree. `path` is memory for the longest stack. */
static void folded_print(const sp_report_folded *folded,
                         const folded_line *line, uint32_t *path) {
  uint32_t node = line->node;
  size_t depth = 0;

  for (; node; node = folded->tree.calls.nodes[node].parent)
    path[depth++] = folded->tree.calls.nodes[node].function;
  for (; depth > 0; depth--) {
    folded_name(folded->report, path[depth - 1], folded->out);
    putc(depth > 1 ? ';' : ' ', folded->out);
  }
  fprintf(folded->out, "%" PRId64 "\n", line->value);
}

spanprof_status sp_report_folded_flush(sp_report_folded *folded) {
  const sp_mem *mem = folded->report->mem;
  sp_report_tree *tree = &folded->tree;
  folded_line *lines =
      sp_mem_new(mem, (tree->calls.node_count + 1) * sizeof *lines);
  uint32_t *path = sp_mem_new(mem, (tree->depth + 1) * sizeof *path);
  size_t i, count = 0;
  spanprof_status st = SPANPROF_OK;

  if (!lines || !path)
    st = sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  for (i = 1; i < tree->calls.node_count && !st; i++)
    if (sp_report_tree_self(tree, i).value)
      lines[count++] =
          (folded_line){(uint32_t)i, sp_report_tree_self(tree, i).value};
  if (count)
    qsort(lines, count, sizeof *lines, folded_order);
  for (i = 0; i < count; i++)
    folded_print(folded, &lines[i], path);
  sp_mem_free(mem, lines);
  sp_mem_free(mem, path);
  if (!st)
    sp_report_tree_clear(tree);
  return st;
}
