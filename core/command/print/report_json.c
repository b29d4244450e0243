#include <inttypes.h>
#include <string.h>

#include "command/shared/json_text.h"
#include "report_print.h"

static void json_amounts(const sp_amount *own, const sp_amount *total,
                         FILE *out) {
  fprintf(out,
          ",\"self\":%" PRId64 ",\"total\":%" PRId64
          ",\"self_samples\":%" PRId64 ",\"total_samples\":%" PRId64 "}",
          own->value, total->value, own->samples, total->samples);
}

static void json_row(const sp_report *report, sp_report_table table,
                     const sp_report_row *row, FILE *out) {
  fputs("{\"name\":", out);
  sp_json_text(row->name, row->name_bytes, out);
  switch (table) {
  case SP_REPORT_SPAN_NAMES:
    fprintf(out, ",\"spans\":%" PRIu64, row->spans);
    break;
  case SP_REPORT_SPANS:
    fprintf(out, ",\"id\":\"%016" PRIx64 "\"", row->id);
    break;
  case SP_REPORT_FUNCTIONS:
    fputs(",\"file\":", out);
    sp_json_text(row->file, row->file_bytes, out);
    if (report->options->lines)
      fprintf(out, ",\"line\":%" PRId64, row->line);
    break;
  case SP_REPORT_LABELS:
    fputs(",\"label\":", out);
    sp_json_text(row->file, row->file_bytes, out);
    break;
  }
  json_amounts(&row->self, &row->total, out);
}

static spanprof_status json_table(const sp_report *report,
                                  sp_report_table table, const char *name,
                                  const sp_report_printer *printer) {
  const size_t top = printer->top;
  sp_report_row *rows;
  size_t i, count;
  spanprof_status st =
      sp_report_rows(report, table, printer->order, &rows, &count);

  if (st)
    return st;
  fprintf(printer->out, ",\n\"%s\":[", name);
  for (i = 0; i < count && (top == 0 || i < top); i++) {
    fputs(i ? ",\n" : "\n", printer->out);
    json_row(report, table, &rows[i], printer->out);
  }
  fputs("]", printer->out);
  sp_mem_free(report->mem, rows);
  return SPANPROF_OK;
}

static void json_time(const char *name, uint64_t unix_ns, FILE *out) {
  if (unix_ns)
    fprintf(out, ",\"%s\":%" PRIu64, name, unix_ns);
  else
    fprintf(out, ",\"%s\":null", name);
}

static void json_text_or_null(const char *name, const char *text, FILE *out) {
  fprintf(out, ",\"%s\":", name);
  if (text)
    sp_json_text(text, strlen(text), out);
  else
    fputs("null", out);
}

static void json_comments(const sp_report *report, FILE *out) {
  char text[500];
  size_t at = 0, count = 0;

  fputs(",\n\"comments\":[", out);
  while (sp_report_comments_next(&report->comments, &at, text, sizeof text)) {
    fputs(count++ ? ",\n" : "\n", out);
    sp_json_text(text, strlen(text), out);
  }
  fputs("]", out);
}

static void json_function(const sp_report *report, uint32_t number, FILE *out) {
  const sp_report_function *function = &report->functions[number];
  size_t bytes;
  const char *text = sp_name_table_get(&report->names, function->name, &bytes);

  fputs("{\"name\":", out);
  sp_json_text(text, bytes, out);
  fputs(",\"file\":", out);
  text = sp_name_table_get(&report->names, function->file, &bytes);
  sp_json_text(text, bytes, out);
  if (report->options->lines)
    fprintf(out, ",\"line\":%" PRId64, function->line);
}

/* Write the edges from *at on that have the same function and this kind, and
 * set *at to the edge after them. */
static void json_peek_edges(const sp_report_peek *peek, const char *name,
                            sp_peek_kind kind, size_t *at, FILE *out) {
  const uint32_t function = peek->edges[*at].function;
  size_t count = 0;

  fprintf(out, ",\"%s\":[", name);
  for (; *at < peek->count && peek->edges[*at].function == function &&
         peek->edges[*at].kind == kind;
       ++*at) {
    const sp_peek_edge *edge = &peek->edges[*at];

    fputs(count++ ? ",\n" : "\n", out);
    json_function(peek->report, edge->neighbour, out);
    fprintf(out, ",\"value\":%" PRId64 ",\"samples\":%" PRId64 "}",
            edge->amount.value, edge->amount.samples);
  }
  fputs("]", out);
}

static void json_peek(sp_report_peek *peek, FILE *out) {
  size_t i = 0;

  sp_report_peek_sort(peek);
  fputs(",\n\"peek\":[", out);
  while (i < peek->count) {
    const uint32_t number = peek->edges[i].function;
    const sp_report_function *function = &peek->report->functions[number];

    fputs(i ? ",\n" : "\n", out);
    json_function(peek->report, number, out);
    json_peek_edges(peek, "callers", SP_PEEK_CALLER, &i, out);
    i++; /* skip the edge of kind SP_PEEK_ITSELF */
    if (i < peek->count && peek->edges[i].function == number)
      json_peek_edges(peek, "callees", SP_PEEK_CALLEE, &i, out);
    else
      fputs(",\"callees\":[]", out);
    json_amounts(&function->self, &function->total, out);
  }
  fputs("]", out);
}

static spanprof_status json_tables(const sp_report *report,
                                   const sp_report_printer *printer) {
  spanprof_status st = SPANPROF_OK;

  if (report->options->all_labels)
    return json_table(report, SP_REPORT_LABELS, "labels", printer);
  if (report->options->group_by)
    st = json_table(report, SP_REPORT_LABELS, "groups", printer);
  if (!st)
    st = json_table(report, SP_REPORT_SPAN_NAMES, "span_names", printer);
  if (!st)
    st = json_table(report, SP_REPORT_SPANS, "spans", printer);
  if (!st)
    st = json_table(report, SP_REPORT_FUNCTIONS, "functions", printer);
  return st;
}

spanprof_status sp_report_print_json(const sp_report *report,
                                     sp_report_peek *peek,
                                     const sp_report_printer *printer) {
  FILE *out = printer->out;
  spanprof_status st = SPANPROF_OK;

  fprintf(out, "{\"profiles\":%" PRIu64, report->profiles);
  json_time("start_ns", report->start_ns, out);
  json_time("end_ns", report->end_ns, out);
  json_text_or_null("type", report->type, out);
  json_text_or_null("unit", report->unit, out);
  fprintf(out,
          ",\"total\":%" PRId64 ",\"value\":%" PRId64 ",\"samples\":%" PRId64
          ",\"forgotten_spans\":%" PRIu64,
          report->all.value, report->selected.value, report->selected.samples,
          report->forgotten_spans);
  json_comments(report, out);
  if (peek)
    json_peek(peek, out);
  else
    st = json_tables(report, printer);
  fputs("}\n", out);
  return st;
}
