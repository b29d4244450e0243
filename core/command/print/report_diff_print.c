#include "report_diff_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command/report/report_unit.h"
#include "command/shared/json_text.h"
#include "util/system/status.h"

static void diff_print_head(const sp_diff *diff, FILE *out) {
  fputs("base: ", out);
  sp_text_head(diff->base, out);
  fputs("now:  ", out);
  sp_text_head(diff->now, out);
  if (diff->is_of_shares)
    fputs("shares of the totals of base and now are compared\n", out);
}

static void diff_change_text(const sp_diff *diff, const sp_diff_row *row,
                             char *out, size_t size) {
  const double change = 100 * sp_diff_change(diff, row);

  if (!sp_diff_differs(row))
    *out = '\0';
  else if (!isfinite(change))
    snprintf(out, size, "new");
  else if (row->now.value == 0)
    snprintf(out, size, "gone");
  else
    snprintf(out, size, fabs(change) < 1000 ? "%+.1f%%" : "%+.2g%%", change);
}

/* Format a value, or its share of the total of `side` if shares are compared.
 */
static void diff_side_text(const sp_diff *diff, const sp_report *side,
                           const sp_amount *amount,
                           char out[SP_REPORT_VALUE_BYTES]) {
  if (diff->is_of_shares)
    sp_report_share(amount->value, side->selected.value, out);
  else
    sp_report_value(amount->value, diff->now->unit, out);
}

static void diff_print_row(const sp_diff *diff, const sp_diff_row *row,
                           bool checked, FILE *out) {
  char base[SP_REPORT_VALUE_BYTES], now[SP_REPORT_VALUE_BYTES], change[24];
  const char *mark = checked && sp_diff_grew(diff, row) ? "!"
                     : sp_diff_differs(row)             ? "*"
                                                        : "~";

  diff_side_text(diff, diff->base, &row->base, base);
  diff_side_text(diff, diff->now, &row->now, now);
  diff_change_text(diff, row, change, sizeof change);
  fprintf(out, "%11s %11s %9s %s %8" PRId64 " %8" PRId64 "  %.*s\n", base, now,
          change, mark, row->base.samples, row->now.samples,
          (int)row->name_bytes, row->name);
}

static spanprof_status diff_print_table(sp_diff *diff, sp_report_table table,
                                        const char *title,
                                        sp_report_printer *printer) {
  const bool checked = table != SP_REPORT_FUNCTIONS;
  char heading[SP_REPORT_VALUE_BYTES];
  sp_diff_row *rows;
  size_t i, count, shown = 0;
  spanprof_status st = sp_diff_rows(diff, table, &rows, &count);

  if (st)
    return st;
  if (diff->is_of_shares)
    snprintf(heading, sizeof heading, "share of %.24s",
             sp_report_type_shown(diff->now->type));
  else
    sp_report_heading(diff->now->type, diff->now->unit, heading);
  fprintf(printer->out, "\n%11s %11s %9s   %17s  %s (%s)\n", "base", "now",
          "change", "samples", title, heading);
  for (i = 0; i < count; i++) {
    const bool grew = checked && sp_diff_grew(diff, &rows[i]);

    diff->grown += grew;
    /* Rows that cause exit status 3 are always printed. */
    if (printer->top && i >= printer->top && !grew)
      continue;
    diff_print_row(diff, &rows[i], checked, printer->out);
    shown++;
  }
  if (shown < count)
    fprintf(printer->out, "%11s %11s %9s  (%zu more)\n", "", "", "",
            count - shown);
  sp_mem_free(diff->base->mem, rows);
  return SPANPROF_OK;
}

spanprof_status sp_diff_print_text(sp_diff *diff, sp_report_printer *printer) {
  const sp_report_table checked = sp_diff_checked_table(diff);
  const char *title =
      checked == SP_REPORT_LABELS ? diff->now->options->group_by : "span name";
  FILE *out = printer->out;
  spanprof_status st;

  diff->grown = 0;
  diff_print_head(diff, out);
  st = diff_print_table(diff, checked, title, printer);
  if (!st)
    st = diff_print_table(diff, SP_REPORT_FUNCTIONS, "function, self", printer);
  if (st)
    return st;
  fputs("\n~: may be chance, with this number of samples; *: more than chance",
        out);
  if (diff->fail_above < 0) {
    fputs("\n", out);
    return SPANPROF_OK;
  }
  fprintf(out, "; !: more than chance, and grown by more than %g%%\n",
          100 * diff->fail_above);
  fprintf(out, "%zu %s%s grew by more than %g%%, and more than chance\n",
          diff->grown, checked == SP_REPORT_LABELS ? "value" : "span name",
          diff->grown == 1 ? "" : "s", 100 * diff->fail_above);
  return SPANPROF_OK;
}

static void diff_json_side(const sp_report *report, const char *name,
                           FILE *out) {
  fprintf(out,
          "\"%s\":{\"profiles\":%" PRIu64 ",\"value\":%" PRId64
          ",\"samples\":%" PRId64 "},\n",
          name, report->profiles, report->selected.value,
          report->selected.samples);
}

static spanprof_status diff_json_table(sp_diff *diff, sp_report_table table,
                                       const char *name,
                                       const sp_report_printer *printer) {
  const bool checked = table != SP_REPORT_FUNCTIONS;
  FILE *out = printer->out;
  sp_diff_row *rows;
  size_t i, count;
  spanprof_status st = sp_diff_rows(diff, table, &rows, &count);

  if (st)
    return st;
  fprintf(out, ",\n\"%s\":[", name);
  for (i = 0; i < count; i++) {
    const sp_diff_row *row = &rows[i];
    const bool grew = checked && sp_diff_grew(diff, row);
    const double change = sp_diff_change(diff, row);

    diff->grown += grew;
    if (printer->top && i >= printer->top && !grew)
      continue;
    fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
    sp_json_text(row->name, row->name_bytes, out);
    fprintf(out,
            ",\"base\":%" PRId64 ",\"now\":%" PRId64
            ",\"base_samples\":%" PRId64 ",\"now_samples\":%" PRId64,
            row->base.value, row->now.value, row->base.samples,
            row->now.samples);
    if (isfinite(change))
      fprintf(out, ",\"change\":%.6g", change);
    else
      fputs(",\"change\":null", out);
    fprintf(out, ",\"p\":%.3g,\"differs\":%s,\"grew\":%s}", row->p,
            sp_diff_differs(row) ? "true" : "false", grew ? "true" : "false");
  }
  fputs("]", out);
  sp_mem_free(diff->base->mem, rows);
  return SPANPROF_OK;
}

spanprof_status sp_diff_print_json(sp_diff *diff,
                                   const sp_report_printer *printer) {
  const sp_report_table checked = sp_diff_checked_table(diff);
  FILE *out = printer->out;
  spanprof_status st;

  diff->grown = 0;
  fputs("{", out);
  diff_json_side(diff->base, "base", out);
  diff_json_side(diff->now, "now", out);
  fputs("\"type\":", out);
  sp_json_text(diff->now->type, strlen(diff->now->type), out);
  fputs(",\"unit\":", out);
  sp_json_text(diff->now->unit, strlen(diff->now->unit), out);
  fprintf(out, ",\"scale\":%.9g", diff->scale);
  if (diff->fail_above >= 0)
    fprintf(out, ",\"fail_above\":%g", diff->fail_above);
  else
    fputs(",\"fail_above\":null", out);
  st = diff_json_table(diff, checked,
                       checked == SP_REPORT_LABELS ? "groups" : "span_names",
                       printer);
  if (!st)
    st = diff_json_table(diff, SP_REPORT_FUNCTIONS, "functions", printer);
  fprintf(out, ",\n\"grown\":%zu}\n", diff->grown);
  return st;
}
