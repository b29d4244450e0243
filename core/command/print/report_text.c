#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "command/report/report_unit.h"
#include "profile/profile.h"
#include "report_print.h"

/* Largest number of comments that are printed. */
#define TEXT_COMMENTS 20

static void text_time(uint64_t unix_ns, const char *format, FILE *out) {
  const time_t seconds = (time_t)(unix_ns / SP_NS_PER_S);
  struct tm parts;
  char text[40];

  if (gmtime_r(&seconds, &parts) &&
      strftime(text, sizeof text, format, &parts) > 0)
    fputs(text, out);
}

/* Print the time range: ", 2026-11-21 16:00:00 to 16:00:30 UTC (30.0 s)". */
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

void sp_text_name(const sp_report *report, uint32_t name, FILE *out) {
  size_t bytes;
  const char *text = sp_name_table_get(&report->names, name, &bytes);

  fwrite(text, 1, bytes, out);
}

/* text_no_stack() prints a line only if more than 1/TEXT_NO_STACK_PART of the
 * value has no stack. */
#define TEXT_NO_STACK_PART 100

static bool text_is_without_stack(const sp_report *report,
                                  const sp_report_function *function) {
  size_t bytes;
  const char *name = sp_name_table_get(&report->names, function->name, &bytes);

  return function->self.value > 0 && sp_note_is(name, bytes);
}

/* Print "without a stack: 4.1% ([signal blocked] 3.0%, [thread end] 1.1%)". */
static void text_no_stack(const sp_report *report, FILE *out) {
  char share[SP_REPORT_VALUE_BYTES];
  const char *before = " (";
  int64_t value = 0;
  size_t i;

  for (i = 0; i < report->function_count; i++)
    if (text_is_without_stack(report, &report->functions[i]))
      value += report->functions[i].self.value;
  if (value <= report->selected.value / TEXT_NO_STACK_PART)
    return;
  sp_report_share(value, report->selected.value, share);
  fprintf(out, "without a stack: %s", share);
  for (i = 0; i < report->function_count; i++) {
    if (!text_is_without_stack(report, &report->functions[i]))
      continue;
    fputs(before, out);
    before = ", ";
    sp_text_name(report, report->functions[i].name, out);
    sp_report_share(report->functions[i].self.value, report->selected.value,
                    share);
    fprintf(out, " %s", share);
  }
  fputs(")\n", out);
}

void sp_text_head(const sp_report *report, FILE *out) {
  char sentence[200], all[SP_REPORT_VALUE_BYTES], share[SP_REPORT_VALUE_BYTES];

  fprintf(out, "%" PRIu64 " profile%s", report->profiles,
          report->profiles == 1 ? "" : "s");
  if (report->start_ns)
    text_times(report, out);
  fputs("\n", out);
  if (!report->type)
    return;
  sp_report_sentence(report->type, report->unit, report->selected.value,
                     sentence, sizeof sentence);
  fprintf(out, "%s, %" PRId64 " sample%s", sentence, report->selected.samples,
          report->selected.samples == 1 ? "" : "s");
  if (report->selected.value != report->all.value) {
    sp_report_value(report->all.value, report->unit, all);
    sp_report_share(report->selected.value, report->all.value, share);
    fprintf(out, ", %s of %s", share, all);
  }
  fputs("\n", out);
  text_no_stack(report, out);
}

void sp_text_value(const sp_report *report, int64_t value, FILE *out) {
  char shown[SP_REPORT_VALUE_BYTES], share[SP_REPORT_VALUE_BYTES];

  sp_report_value(value, report->unit, shown);
  sp_report_share(value, report->selected.value, share);
  fprintf(out, "%11s %7s ", shown, share);
}

void sp_text_samples(sp_report_printer *printer, int64_t samples) {
  char doubt[SP_AMOUNT_UNCERTAINTY_BYTES];

  sp_amount_uncertainty(samples, doubt);
  printer->unranked_shown = printer->unranked_shown || doubt[0] == '?';
  fprintf(printer->out, "%8" PRId64 " %5s ", samples, doubt);
}

/* Print the short path of a function's file, unless the file equals the name:
 * the frame of a module has the module as its name and as its file. */
static void text_file(const sp_report *report, const char *name,
                      size_t name_bytes, const char *file, size_t file_bytes,
                      FILE *out) {
  char path[SP_NAME_BYTES_MAX + 1];
  sp_code_place place;

  if (!file_bytes || file_bytes >= sizeof path ||
      (name_bytes == file_bytes && memcmp(name, file, name_bytes) == 0))
    return;
  memcpy(path, file, file_bytes);
  path[file_bytes] = '\0';
  place = sp_code_place_of(&report->code_rules, path);
  if (place.kind == SP_CODE_APPLICATION)
    place.path = sp_code_folder_below(&report->code_folder, place.path);
  fprintf(out, "  %s%s", place.label, place.path);
}

void sp_text_function(const sp_report *report, uint32_t function, FILE *out) {
  const sp_report_function *entry = &report->functions[function];
  size_t name_bytes, file_bytes = 0;
  const char *name =
      sp_name_table_get(&report->names, entry->name, &name_bytes);
  const char *file = NULL;

  if (entry->file)
    file = sp_name_table_get(&report->names, entry->file, &file_bytes);
  fwrite(name, 1, name_bytes, out);
  text_file(report, name, name_bytes, file, file_bytes, out);
  if (entry->line)
    fprintf(out, ":%" PRId64, entry->line);
  fputs("\n", out);
}

void sp_text_explain_unranked(const sp_report_printer *printer) {
  if (printer->unranked_shown)
    fprintf(printer->out, "\n?: fewer than %d samples, too few to rank\n",
            SP_AMOUNT_FEW);
}

/* The columns and the title of one table. */
typedef struct text_table {
  sp_report_table table;
  const char *own; /* heading of an additional column before the name; "" if
                    * there is none */
  const char *title;
  const char *what; /* noun for the rows, in the plural: "spans" */
  bool has_self;
  bool self_first;
} text_table;

static void text_table_head(const text_table *one, const char *heading,
                            FILE *out) {
  if (!one->has_self)
    fprintf(out, "\n%11s %7s ", heading, "share");
  else if (one->self_first)
    fprintf(out, "\n%11s %7s %11s %7s ", "self", "share", "total", "share");
  else
    fprintf(out, "\n%11s %7s %11s %7s ", "total", "share", "self", "share");
  /* The plus-minus sign has one column and two bytes. */
  fprintf(out, "%8s     \xc2\xb1 %s%s%s", "samples", one->own,
          *one->own ? "  " : " ", one->title);
  /* Without a self column, the heading of the values shows the unit already. */
  if (one->has_self)
    fprintf(out, " (%s)", heading);
  fputs("\n", out);
}

static void text_row(const sp_report *report, const text_table *one,
                     const sp_report_row *row, sp_report_printer *printer) {
  const sp_amount *first = one->self_first ? &row->self : &row->total;
  const sp_amount *second = one->self_first ? &row->total : &row->self;
  FILE *out = printer->out;

  sp_text_value(report, first->value, out);
  if (one->has_self)
    sp_text_value(report, second->value, out);
  sp_text_samples(printer, first->samples);
  if (one->table == SP_REPORT_SPAN_NAMES)
    fprintf(out, "%8" PRIu64 " ", row->spans);
  else if (one->table == SP_REPORT_SPANS)
    fprintf(out, "%016" PRIx64 " ", row->id);
  fprintf(out, " %.*s", (int)row->name_bytes, row->name);
  if (one->table == SP_REPORT_FUNCTIONS)
    text_file(report, row->name, row->name_bytes, row->file, row->file_bytes,
              out);
  if (row->line)
    fprintf(out, ":%" PRId64, row->line);
  fputs("\n", out);
}

static void text_more(size_t count, size_t shown, const char *what, FILE *out) {
  if (shown < count)
    fprintf(out, "%11s %7s  (%zu more %s)\n", "", "", count - shown, what);
}

/* Print at most printer->top of `count` rows. */
static void text_rows(const sp_report *report, const text_table *one,
                      const sp_report_row *rows, size_t count,
                      sp_report_printer *printer) {
  char heading[SP_REPORT_VALUE_BYTES];
  size_t i;

  sp_report_heading(report->type, report->unit, heading);
  text_table_head(one, heading, printer->out);
  for (i = 0; i < count && (printer->top == 0 || i < printer->top); i++)
    text_row(report, one, &rows[i], printer);
  text_more(count, i, one->what, printer->out);
}

static spanprof_status text_print_table(const sp_report *report,
                                        const text_table *one,
                                        sp_report_printer *printer) {
  sp_report_row *rows;
  size_t count;
  spanprof_status st =
      sp_report_rows(report, one->table, printer->order, &rows, &count);

  if (!st && count)
    text_rows(report, one, rows, count, printer);
  if (!st && one->table == SP_REPORT_SPANS && report->forgotten_spans)
    fprintf(printer->out,
            "%11s %7s  (%" PRIu64
            " small spans were discarded, for lack of memory)\n",
            "", "", report->forgotten_spans);
  sp_mem_free(report->mem, rows);
  return st;
}

static void text_comments(const sp_report *report, FILE *out) {
  char text[500];
  size_t at = 0, count = 0;

  while (sp_report_comments_next(&report->comments, &at, text, sizeof text)) {
    if (count == 0)
      fputs("\ncomments of the profiles\n", out);
    if (++count <= TEXT_COMMENTS)
      fprintf(out, "  %s\n", text);
  }
  if (count > TEXT_COMMENTS)
    fprintf(out, "  (%zu more)\n", count - TEXT_COMMENTS);
}

/* Print the lines above the tables. Returns true if there are no rows. */
static bool text_is_empty(const sp_report *report, FILE *out) {
  sp_text_head(report, out);
  if (report->samples)
    return false;
  fputs(report->profiles ? "no samples match\n" : "no profiles match\n", out);
  return true;
}

spanprof_status sp_report_print_text(const sp_report *report,
                                     sp_report_printer *printer) {
  const bool self_first = printer->order != SP_REPORT_BY_TOTAL;
  /* If no sample names an ancestor span, total and self are equal, and the
   * tables of spans need no self column. */
  const bool nested = report->any_ancestor;
  const bool spans_self = nested && printer->order == SP_REPORT_BY_SELF;
  char most[120];
  const text_table tables[] = {
      {SP_REPORT_LABELS, "", report->options->group_by, "values", false, false},
      {SP_REPORT_SPAN_NAMES, "   spans", "span name", "names", nested,
       spans_self},
      {SP_REPORT_SPANS, "span id         ", most, "spans", nested, spans_self},
      {SP_REPORT_FUNCTIONS, "", "top functions", "functions", true, self_first},
  };
  spanprof_status st = SPANPROF_OK;
  size_t i;

  if (text_is_empty(report, printer->out))
    return SPANPROF_OK;
  snprintf(most, sizeof most, "spans with the most %.80s",
           sp_report_type_shown(report->type));
  for (i = 0; i < SP_COUNT_OF(tables) && !st; i++) {
    if (tables[i].table == SP_REPORT_LABELS && !report->options->group_by)
      continue;
    if (tables[i].table == SP_REPORT_SPAN_NAMES && !report->any_span)
      continue;
    st = text_print_table(report, &tables[i], printer);
  }
  if (st)
    return st;
  sp_text_explain_unranked(printer);
  text_comments(report, printer->out);
  return SPANPROF_OK;
}

spanprof_status sp_report_print_labels(const sp_report *report,
                                       sp_report_printer *printer) {
  char title[80];
  text_table one = {
      .table = SP_REPORT_LABELS, .own = "", .title = title, .what = "values"};
  sp_report_row *rows;
  size_t i, count, first = 0;
  spanprof_status st;

  if (text_is_empty(report, printer->out))
    return SPANPROF_OK;
  st = sp_report_rows(report, SP_REPORT_LABELS, printer->order, &rows, &count);
  if (st)
    return st;
  for (i = 1; i <= count; i++) {
    if (i < count && rows[i].file == rows[first].file)
      continue;
    snprintf(title, sizeof title, "%.*s", (int)rows[first].file_bytes,
             rows[first].file);
    text_rows(report, &one, rows + first, i - first, printer);
    first = i;
  }
  if (count == 0)
    fputs("no labels\n", printer->out);
  sp_mem_free(report->mem, rows);
  sp_text_explain_unranked(printer);
  return SPANPROF_OK;
}
