#include "report_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/report/report_rows.h"
#include "command/shared/json_text.h"
#include "page/built_page.h"
#include "util/system/status.h"

#define HTML_SPANS_TOP 100
#define HTML_PLACE     "id=\"page-data\">null<"
#define HTML_NULL      "null<"

static spanprof_status html_cell(sp_html_side *side, uint32_t span_name,
                                 uint32_t node, int64_t value) {
  const sp_mem *mem = side->tree.mem;
  const uint64_t hash = sp_hash_mix(sp_hash_mix(span_name, SP_HASH_SEED), node);
  uint32_t at, i = sp_index_first(&side->cell_index, hash, &at);
  sp_html_cell *cell;
  spanprof_status st;

  for (; i != SP_INDEX_NONE; i = sp_index_next(&side->cell_index, hash, &at)) {
    cell = &side->cells[i];
    if (cell->span_name == span_name && cell->node == node) {
      cell->value = sp_amount_sum(cell->value, value);
      return SPANPROF_OK;
    }
  }
  st = sp_mem_reserve(mem, (void **)&side->cells, &side->cell_capacity,
                      side->cell_count + 1, sizeof *side->cells);
  if (!st)
    st = sp_index_reserve(&side->cell_index, mem);
  if (st)
    return sp_fail(st, "out of memory");
  sp_index_add(&side->cell_index, hash, (uint32_t)side->cell_count);
  side->cells[side->cell_count++] =
      (sp_html_cell){.span_name = span_name, .node = node, .value = value};
  return SPANPROF_OK;
}

/* Add a sample to the cells (sp_html_cell) of its span name and of its
 * ancestors' span names. All span names have cells, because the largest ones
 * are known only after the last sample. */
static spanprof_status html_stack(void *data, const uint32_t *functions,
                                  size_t count, const sp_amount *amount) {
  sp_html_side *side = data;
  const sp_report *report = side->report;
  spanprof_status st =
      sp_report_tree_add(&side->tree, functions, count, amount);
  size_t i;

  for (i = 0; i < report->sample_name_count && !st; i++)
    st = html_cell(side, report->sample_names[i], side->tree.last,
                   amount->value);
  return st;
}

static void html_restart(void *data) {
  sp_html_side *side = data;

  sp_report_tree_clear(&side->tree);
  sp_index_clear(&side->cell_index);
  side->cell_count = 0;
}

void sp_html_side_init(sp_html_side *side, sp_report *report) {
  *side = (sp_html_side){.report = report};
  sp_report_tree_init(&side->tree, report->mem);
  report->listener = (sp_report_listener){html_stack, html_restart, side};
}

void sp_html_side_dispose(sp_html_side *side) {
  if (!side->report)
    return;
  sp_mem_free(side->tree.mem, side->cells);
  sp_index_dispose(&side->cell_index, side->tree.mem);
  sp_report_tree_clear(&side->tree);
  *side = (sp_html_side){0};
}

/* Number the functions that occur in the tree from 0. `numbers` maps each
 * function of the report to its number, or to UINT32_MAX. `used` has the
 * functions by number. */
static void html_number(const sp_html_side *side, uint32_t *numbers,
                        uint32_t *used, size_t *count) {
  size_t i;

  *count = 0;
  memset(numbers, 0xff, side->report->function_count * sizeof *numbers);
  for (i = 1; i < side->tree.calls.node_count; i++) {
    const uint32_t function = side->tree.calls.nodes[i].function;

    if (numbers[function] != UINT32_MAX)
      continue;
    used[*count] = function;
    numbers[function] = (uint32_t)(*count)++;
  }
}

static void html_name(const sp_report *report, uint32_t name, FILE *out) {
  size_t bytes;
  const char *text = sp_name_table_get(&report->names, name, &bytes);

  sp_json_text_in_html(text, bytes, out);
}

static void html_functions(const sp_report *report, const uint32_t *used,
                           size_t count, FILE *out) {
  size_t i;

  fputs("\"functions\":{\"name\":[", out);
  for (i = 0; i < count; i++) {
    if (i)
      putc(',', out);
    html_name(report, report->functions[used[i]].name, out);
  }
  fputs("],\"file\":[", out);
  for (i = 0; i < count; i++) {
    if (i)
      putc(',', out);
    html_name(report, report->functions[used[i]].file, out);
  }
  fputs("],\"line\":[", out);
  for (i = 0; i < count; i++)
    fprintf(out, "%s%" PRId64, i ? "," : "", report->functions[used[i]].line);
  fputs("]}", out);
}

static void html_nodes(const sp_report_tree *tree, const uint32_t *numbers,
                       FILE *out) {
  size_t i;

  fputs("\"nodes\":{\"parent\":[0", out);
  for (i = 1; i < tree->calls.node_count; i++)
    fprintf(out, ",%" PRIu32, tree->calls.nodes[i].parent);
  fputs("],\"function\":[-1", out);
  for (i = 1; i < tree->calls.node_count; i++)
    fprintf(out, ",%" PRIu32, numbers[tree->calls.nodes[i].function]);
  fprintf(out, "],\"self\":[%" PRId64,
          tree->calls.node_count ? sp_report_tree_self(tree, 0).value : 0);
  for (i = 1; i < tree->calls.node_count; i++)
    fprintf(out, ",%" PRId64, sp_report_tree_self(tree, i).value);
  fprintf(out, "],\"samples\":[%" PRId64,
          tree->calls.node_count ? sp_report_tree_self(tree, 0).samples : 0);
  for (i = 1; i < tree->calls.node_count; i++)
    fprintf(out, ",%" PRId64, sp_report_tree_self(tree, i).samples);
  fputs("]}", out);
}

static void html_text_or(const char *text, const char *otherwise, FILE *out) {
  if (!text)
    text = otherwise;
  sp_json_text_in_html(text, strlen(text), out);
}

static spanprof_status html_tree(const sp_html_side *side, FILE *out) {
  const sp_report *report = side->report;
  const size_t size = (report->function_count + 1) * sizeof(uint32_t);
  uint32_t *numbers = sp_mem_new(report->mem, size);
  uint32_t *used = sp_mem_new(report->mem, size);
  size_t count;

  if (numbers && used) {
    html_number(side, numbers, used, &count);
    fputs("{\"type\":", out);
    html_text_or(report->type, "cpu", out);
    fputs(",\"unit\":", out);
    html_text_or(report->unit, "nanoseconds", out);
    fprintf(out, ",\"profiles\":%" PRIu64 ",\n", report->profiles);
    html_functions(report, used, count, out);
    fputs(",\n", out);
    html_nodes(&side->tree, numbers, out);
    fputs("}", out);
  }
  sp_mem_free(report->mem, numbers);
  sp_mem_free(report->mem, used);
  return numbers && used ? SPANPROF_OK
                         : sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
}

static int html_cell_order(const void *a, const void *b) {
  const sp_html_cell *left = a, *right = b;

  if (left->span_name != right->span_name)
    return left->span_name < right->span_name ? -1 : 1;
  return left->node < right->node ? -1 : left->node > right->node;
}

/* Write the cells with indexes from `at` to `end` - 1, which belong to one span
 * name. */
static void html_cells(const sp_html_side *side, size_t at, size_t end,
                       FILE *out) {
  size_t i;

  fputs(",\"nodes\":{\"node\":[", out);
  for (i = at; i < end; i++)
    fprintf(out, "%s%" PRIu32, i > at ? "," : "", side->cells[i].node);
  fputs("],\"self\":[", out);
  for (i = at; i < end; i++)
    fprintf(out, "%s%" PRId64, i > at ? "," : "", side->cells[i].value);
  fputs("]}", out);
}

static int html_value_order(const void *a, const void *b) {
  const int64_t *left = a, *right = b;

  return (*left < *right) - (*left > *right);
}

/* Get the smallest total of the SP_HTML_SPAN_NAMES_MAX largest span names. */
static spanprof_status html_least(const sp_report *report, int64_t *out) {
  const size_t count = report->span_name_count;
  int64_t *totals = sp_mem_new(report->mem, count * sizeof *totals);
  size_t i;

  if (!totals)
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  for (i = 0; i < count; i++)
    totals[i] = report->span_names[i].total.value;
  qsort(totals, count, sizeof *totals, html_value_order);
  *out =
      totals[(count < SP_HTML_SPAN_NAMES_MAX ? count : SP_HTML_SPAN_NAMES_MAX) -
             1];
  sp_mem_free(report->mem, totals);
  return SPANPROF_OK;
}

static void html_amounts(const sp_amount *own, const sp_amount *total,
                         FILE *out) {
  fprintf(out,
          ",\"service\":null,\"self\":%" PRId64 ",\"total\":%" PRId64
          ",\"samples\":%" PRId64 ",\"traced\":0",
          own->value, total->value, total->samples);
}

/* Returns the number of spans of each name, including the spans that the report
 * forgot. Returns NULL if memory ran out. */
static uint64_t *html_span_counts(const sp_report *report) {
  uint64_t *counts =
      sp_mem_new(report->mem, report->span_name_count * sizeof *counts);
  size_t i;

  if (!counts)
    return NULL;
  for (i = 0; i < report->span_name_count; i++)
    counts[i] = report->span_names[i].spans;
  for (i = 0; i < report->span_count; i++)
    counts[report->spans[i].name]++;
  return counts;
}

/* Write the span names. The first one, null, has the samples without a span. */
static spanprof_status html_span_names(sp_html_side *side, FILE *out) {
  const sp_report *report = side->report;
  uint64_t *counts = html_span_counts(report);
  size_t i, at, end = 0, count = 0, written = 0;
  int64_t least = 0;
  spanprof_status st = counts ? html_least(report, &least)
                              : sp_fail(SPANPROF_ERR_NOMEM, "out of memory");

  if (st) {
    sp_mem_free(report->mem, counts);
    return st;
  }
  if (side->cell_count)
    qsort(side->cells, side->cell_count, sizeof *side->cells, html_cell_order);
  fputs("[", out);
  for (i = 0; i < report->span_name_count; i++) {
    const sp_report_span_name *name = &report->span_names[i];

    for (at = end; end < side->cell_count && side->cells[end].span_name == i;)
      end++;
    if (name->total.samples == 0)
      continue;
    fputs(count++ ? ",\n{\"name\":" : "\n{\"name\":", out);
    if (i)
      html_name(report, name->name, out);
    else
      fputs("null", out);
    html_amounts(&name->self, &name->total, out);
    fprintf(out, ",\"spans\":%" PRIu64, counts[i]);
    if (name->total.value >= least && written++ < SP_HTML_SPAN_NAMES_MAX)
      html_cells(side, at, end, out);
    fputs("}", out);
  }
  fputs("]", out);
  sp_mem_free(report->mem, counts);
  return SPANPROF_OK;
}

/* Write the spans with the largest totals. */
static spanprof_status html_spans(const sp_report *report, FILE *out) {
  sp_report_row *rows;
  size_t i, count;
  spanprof_status st = sp_report_rows(report, SP_REPORT_SPANS,
                                      SP_REPORT_BY_TOTAL, &rows, &count);

  if (st)
    return st;
  fputs("[", out);
  for (i = 0; i < count && i < HTML_SPANS_TOP; i++) {
    fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
    sp_json_text_in_html(rows[i].name, rows[i].name_bytes, out);
    fprintf(out, ",\"spanId\":\"%016" PRIx64 "\",\"spans\":1", rows[i].id);
    html_amounts(&rows[i].self, &rows[i].total, out);
    fputs("}", out);
  }
  fputs("]", out);
  sp_mem_free(report->mem, rows);
  return SPANPROF_OK;
}

static void html_comments(const sp_report *report, FILE *out) {
  char text[500];
  size_t at = 0, count = 0;

  fputs("[", out);
  while (sp_report_comments_next(&report->comments, &at, text, sizeof text)) {
    fputs(count++ ? ",\n" : "", out);
    sp_json_text_in_html(text, strlen(text), out);
  }
  fputs("]", out);
}

/* Write one side as JSON: a WireFileSide of core/page/src/model/wire.ts. */
static spanprof_status html_side(sp_html_side *side, FILE *out) {
  const sp_report *report = side->report;
  spanprof_status st;

  fprintf(out,
          "{\"fromMs\":%" PRIu64 ",\"untilMs\":%" PRIu64 ",\"samples\":%" PRId64
          ",\"all\":%" PRId64 ",\n\"comments\":",
          report->start_ns / SP_NS_PER_MS, report->end_ns / SP_NS_PER_MS,
          report->selected.samples, report->all.value);
  html_comments(report, out);
  fputs(",\n\"tree\":", out);
  st = html_tree(side, out);
  fputs(",\n\"spanNames\":", out);
  if (!st)
    st = html_span_names(side, out);
  fputs(",\n\"spans\":", out);
  if (!st)
    st = html_spans(report, out);
  fputs("}", out);
  return st;
}

/* Returns the position of the text "null" in the page, which the data replaces,
 * or NULL if this build has no page. */
static const char *html_place(const char **page, size_t *size) {
  const char *place;

  *page = sp_built_page(size);
  place = memmem(*page, *size, HTML_PLACE, strlen(HTML_PLACE));
  return place ? place + strlen(HTML_PLACE) - strlen(HTML_NULL) : NULL;
}

spanprof_status sp_report_html_check(void) {
  const char *page;
  size_t size;

  if (html_place(&page, &size))
    return SPANPROF_OK;
  return sp_fail(SPANPROF_ERR_UNSUPPORTED, "--html: " SP_BUILT_PAGE_MISSING);
}

spanprof_status sp_report_html_write(sp_html_side *now, sp_html_side *base,
                                     const char *title, FILE *out) {
  const char *page;
  size_t size;
  const char *place = html_place(&page, &size);
  spanprof_status st = sp_report_html_check();

  if (st)
    return st;
  fwrite(page, 1, (size_t)(place - page), out);
  fputs("{\"title\":", out);
  sp_json_text_in_html(title, strlen(title), out);
  fputs(",\n\"now\":", out);
  st = html_side(now, out);
  fputs(",\n\"base\":", out);
  if (!st && base)
    st = html_side(base, out);
  else
    fputs("null", out);
  fputs("}", out);
  place += strlen("null");
  fwrite(place, 1, size - (size_t)(place - page), out);
  return st;
}
