#include "report_print.h"

#include "report_rows.h"

#include <inttypes.h>
#include <string.h>

/* A JSON text (RFC 8259); the bytes are valid UTF-8 without control
 * characters, as profiles are read. */
static void json_text(const char *text, size_t bytes, FILE *out) {
  size_t i;

  putc('"', out);
  for (i = 0; i < bytes; i++) {
    if (text[i] == '"' || text[i] == '\\')
      putc('\\', out);
    putc(text[i], out);
  }
  putc('"', out);
}

static void json_row(sp_report_table table, const sp_report_row *row,
                     FILE *out) {
  fputs("{\"name\":", out);
  json_text(row->name, row->name_bytes, out);
  switch (table) {
  case SP_REPORT_SPAN_NAMES:
    fprintf(out, ",\"spans\":%" PRIu64, row->spans);
    break;
  case SP_REPORT_SPANS:
    fprintf(out, ",\"id\":\"%016" PRIx64 "\"", row->id);
    break;
  case SP_REPORT_FUNCTIONS:
    fputs(",\"file\":", out);
    json_text(row->file, row->file_bytes, out);
    break;
  }
  fprintf(out, ",\"self\":%" PRId64 ",\"total\":%" PRId64 "}", row->self,
          row->total);
}

static spanprof_status json_table(const sp_report *report,
                                  sp_report_table table, const char *name,
                                  size_t top, FILE *out) {
  sp_report_row *rows;
  size_t i, count;
  spanprof_status st = sp_report_rows(report, table, &rows, &count);

  if (st != SPANPROF_OK)
    return st;
  fprintf(out, ",\n\"%s\":[", name);
  for (i = 0; i < count && (top == 0 || i < top); i++) {
    fputs(i ? ",\n" : "\n", out);
    json_row(table, &rows[i], out);
  }
  fputs("]", out);
  sp_mem_free(report->mem, rows);
  return SPANPROF_OK;
}

static void json_time(const char *name, uint64_t unix_ns, FILE *out) {
  if (unix_ns)
    fprintf(out, ",\"%s\":%" PRIu64, name, unix_ns);
  else
    fprintf(out, ",\"%s\":null", name);
}

spanprof_status sp_report_print_json(const sp_report *report, size_t top,
                                     FILE *out) {
  spanprof_status st;

  fprintf(out, "{\"profiles\":%" PRIu64, report->profiles);
  json_time("start_ns", report->start_ns, out);
  json_time("end_ns", report->end_ns, out);
  fputs(",\"type\":", out);
  json_text(report->type, strlen(report->type), out);
  fputs(",\"unit\":", out);
  json_text(report->unit, strlen(report->unit), out);
  fprintf(out, ",\"total\":%" PRId64 ",\"value\":%" PRId64, report->all,
          report->taken);
  fprintf(out, ",\"forgotten_spans\":%" PRIu64, report->forgotten_spans);
  st = json_table(report, SP_REPORT_SPAN_NAMES, "span_names", top, out);
  if (st == SPANPROF_OK)
    st = json_table(report, SP_REPORT_SPANS, "spans", top, out);
  if (st == SPANPROF_OK)
    st = json_table(report, SP_REPORT_FUNCTIONS, "functions", top, out);
  fputs("}\n", out);
  return st;
}
