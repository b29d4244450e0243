#include "report_print.h"

#include "report_rows.h"
#include "report_unit.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static void text_time(uint64_t unix_ns, const char *format, FILE *out) {
  const time_t seconds = (time_t)(unix_ns / SP_NS_PER_S);
  struct tm parts;
  char text[40];

  if (gmtime_r(&seconds, &parts) &&
      strftime(text, sizeof text, format, &parts) > 0)
    fputs(text, out);
}

/* "2026-11-21 16:00:00 to 16:00:30 UTC (30.0 s)" */
static void text_times(const sp_report *report, FILE *out) {
  const uint64_t day_ns = 86400 * SP_NS_PER_S;

  fputs(", ", out);
  text_time(report->start_ns, "%Y-%m-%d %H:%M:%S", out);
  if (report->end_ns > report->start_ns) {
    fputs(" to ", out);
    text_time(report->end_ns,
              report->start_ns / day_ns == report->end_ns / day_ns
                  ? "%H:%M:%S"
                  : "%Y-%m-%d %H:%M:%S",
              out);
  }
  fputs(" UTC", out);
  if (report->end_ns > report->start_ns)
    fprintf(out, " (%.1f s)",
            (double)(report->end_ns - report->start_ns) / 1e9);
}

static void text_head(const sp_report *report, FILE *out) {
  char sentence[200], all[SP_REPORT_VALUE_BYTES], share[SP_REPORT_VALUE_BYTES];

  fprintf(out, "%" PRIu64 " profile%s", report->profiles,
          report->profiles == 1 ? "" : "s");
  if (report->start_ns)
    text_times(report, out);
  sp_report_sentence(report->type, report->unit, report->taken, sentence,
                     sizeof sentence);
  fprintf(out, "\n%s", sentence);
  if (report->taken != report->all) {
    sp_report_value(report->all, report->unit, all);
    sp_report_share(report->taken, report->all, share);
    fprintf(out, ", %s of %s", share, all);
  }
  fputs("\n", out);
}

static void text_more(size_t count, size_t shown, const char *what, FILE *out) {
  if (shown < count)
    fprintf(out, "%11s %7s  (%zu more %s)\n", "", "", count - shown, what);
}

/* Where no sample names an ancestor, total and self are the same. */
static void text_values_head(const sp_report *report, const char *heading,
                             FILE *out) {
  if (report->any_ancestor)
    fprintf(out, "\n%11s %7s %11s %7s", "total", "share", "self", "share");
  else
    fprintf(out, "\n%11s %7s", heading, "share");
}

/* What is counted, behind a title whose columns do not say it. */
static void text_unit(const sp_report *report, const char *heading, FILE *out) {
  if (report->any_ancestor)
    fprintf(out, " (%s)", heading);
  fputs("\n", out);
}

static void text_value(const sp_report *report, int64_t value, FILE *out) {
  char shown[SP_REPORT_VALUE_BYTES], share[SP_REPORT_VALUE_BYTES];

  sp_report_value(value, report->unit, shown);
  sp_report_share(value, report->taken, share);
  fprintf(out, "%11s %7s ", shown, share);
}

static void text_values(const sp_report *report, const sp_report_row *row,
                        FILE *out) {
  text_value(report, row->total, out);
  if (report->any_ancestor)
    text_value(report, row->self, out);
}

static spanprof_status text_span_names(const sp_report *report,
                                       const char *heading, size_t top,
                                       FILE *out) {
  sp_report_row *rows;
  size_t i, count;
  spanprof_status st =
      sp_report_rows(report, SP_REPORT_SPAN_NAMES, &rows, &count);

  if (st != SPANPROF_OK)
    return st;
  text_values_head(report, heading, out);
  fprintf(out, " %8s  span name", "spans");
  text_unit(report, heading, out);
  for (i = 0; i < count && (top == 0 || i < top); i++) {
    text_values(report, &rows[i], out);
    fprintf(out, "%8" PRIu64 "  %.*s\n", rows[i].spans, (int)rows[i].name_bytes,
            rows[i].name);
  }
  text_more(count, i, "names", out);
  sp_mem_free(report->mem, rows);
  return SPANPROF_OK;
}

static spanprof_status text_spans(const sp_report *report, const char *heading,
                                  size_t top, FILE *out) {
  sp_report_row *rows;
  size_t i, count;
  spanprof_status st = sp_report_rows(report, SP_REPORT_SPANS, &rows, &count);

  if (st != SPANPROF_OK)
    return st;
  text_values_head(report, heading, out);
  fprintf(out, "  %-16s  slowest spans", "span id");
  text_unit(report, heading, out);
  for (i = 0; i < count && (top == 0 || i < top); i++) {
    text_values(report, &rows[i], out);
    fprintf(out, " %016" PRIx64 "  %.*s\n", rows[i].id, (int)rows[i].name_bytes,
            rows[i].name);
  }
  text_more(count, i, "spans", out);
  if (report->forgotten_spans)
    fprintf(out,
            "%11s %7s  (%" PRIu64 " small spans were forgotten on the way)\n",
            "", "", report->forgotten_spans);
  sp_mem_free(report->mem, rows);
  return SPANPROF_OK;
}

static spanprof_status text_functions(const sp_report *report,
                                      const char *heading, size_t top,
                                      FILE *out) {
  sp_report_row *rows;
  size_t i, count;
  spanprof_status st =
      sp_report_rows(report, SP_REPORT_FUNCTIONS, &rows, &count);

  if (st != SPANPROF_OK)
    return st;
  fprintf(out, "\n%11s %7s %11s %7s  top functions (%s)\n", "self", "share",
          "total", "share", heading);
  for (i = 0; i < count && (top == 0 || i < top); i++) {
    text_value(report, rows[i].self, out);
    text_value(report, rows[i].total, out);
    fprintf(out, " %.*s%s%.*s\n", (int)rows[i].name_bytes, rows[i].name,
            rows[i].file_bytes ? "  " : "", (int)rows[i].file_bytes,
            rows[i].file);
  }
  text_more(count, i, "functions", out);
  sp_mem_free(report->mem, rows);
  return SPANPROF_OK;
}

spanprof_status sp_report_print_text(const sp_report *report, size_t top,
                                     FILE *out) {
  char heading[SP_REPORT_VALUE_BYTES];
  spanprof_status st = SPANPROF_OK;

  text_head(report, out);
  if (report->samples == 0) {
    fputs("no samples match\n", out);
    return SPANPROF_OK;
  }
  sp_report_heading(report->type, report->unit, heading);
  if (report->any_span)
    st = text_span_names(report, heading, top, out);
  if (st == SPANPROF_OK && report->span_count)
    st = text_spans(report, heading, top, out);
  if (st == SPANPROF_OK)
    st = text_functions(report, heading, top, out);
  return st;
}
