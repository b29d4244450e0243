/* Profiles come from files (report_files.c) or a server (report_server.c) and
 * are added to a report (report.c). The report adds up the samples that match
 * the filters, by span, function and label, and passes each sample to a
 * listener, which collects stacks (report_tree.c) or calls (report_peek.c). The
 * printers write the sums and what the listener collected: report_text.c,
 * report_json.c, report_calls.c, report_folded.c, report_diff_print.c,
 * report_html.c. */
#include "command.h"
#include "command/print/report_diff_print.h"
#include "command/print/report_folded.h"
#include "command/print/report_html.h"
#include "command/print/report_print.h"
#include "command/report/report_diff.h"
#include "report_arguments.h"
#include "report_files.h"
#include "report_html_file.h"
#include "util/system/status.h"

#define REPORT_TOP_DEFAULT 20

/* One run of the command. */
typedef struct report_job {
  sp_report_arguments arguments;
  sp_report_printer printer;
  sp_report report;
  sp_html_side html[2]; /* [0] is the base, [1] the report; used only if a page
                         * is written */
  int status;
} report_job;

static void report_fail(report_job *job, spanprof_status st) {
  if (st)
    sp_command_error(job->arguments.io, job->arguments.word, NULL,
                     spanprof_last_error());
  if (st)
    job->status = SP_EXIT_FAILED;
}

static void report_read_files(report_job *job, sp_report *report,
                              const sp_profile_list *list) {
  sp_report_files files = {.io = job->arguments.io,
                           .word = job->arguments.word,
                           .filter = &job->arguments.profiles,
                           .report = report};

  sp_report_files_read(&files, list);
  /* Fail if there are no profiles at all, but not if a filter excluded all of
   * them. */
  if (files.failed || (report->profiles == 0 && files.filtered_out == 0))
    job->status = SP_EXIT_FAILED;
}

/* Read the profiles of the report or, with `base`, the profiles to compare
 * with. */
static void report_read(report_job *job, sp_report *report, bool base) {
  const sp_report_arguments *arguments = &job->arguments;

  if (arguments->from_server)
    report_fail(job, sp_report_server_read(base ? &arguments->base_server
                                                : &arguments->server,
                                           arguments->io, report));
  else
    report_read_files(job, report, base ? &arguments->base : &arguments->files);
}

/* Returns whether there is something to print. A report without profiles is
 * printed only if a filter excluded all of them. */
static bool report_is_any(const report_job *job) {
  return job->report.profiles || job->status == SP_EXIT_OK;
}

static bool report_is_html(const report_job *job) {
  return job->arguments.html || job->arguments.open;
}

/* Write the page. `base` is NULL if the report is not compared. */
static void report_write_html(report_job *job, sp_html_side *base) {
  char title[SP_HTML_TITLE_BYTES];
  sp_html_file file;
  spanprof_status st = sp_html_file_create(&file, &job->arguments);

  sp_html_title(&job->arguments, title);
  if (!st)
    st = sp_report_html_write(&job->html[1], base, title, file.out);
  if (!st)
    st = sp_html_file_finish(&file);
  sp_html_file_abandon(&file);
  report_fail(job, st);
}

static void report_run_html(report_job *job) {
  sp_html_side_init(&job->html[1], &job->report);
  report_read(job, &job->report, false);
  if (report_is_any(job))
    report_write_html(job, NULL);
  sp_html_side_dispose(&job->html[1]);
}

static void report_run_folded(report_job *job) {
  sp_report_folded folded;

  sp_report_folded_init(&folded, &job->report, job->printer.out);
  job->report.listener = (sp_report_listener){
      sp_report_folded_stack, sp_report_folded_restart, &folded};
  report_read(job, &job->report, false);
  report_fail(job, sp_report_folded_flush(&folded));
  sp_report_folded_dispose(&folded);
}

static spanprof_status report_tree_stack(void *tree, const uint32_t *functions,
                                         size_t count,
                                         const sp_amount *amount) {
  return sp_report_tree_add(tree, functions, count, amount);
}

static void report_tree_restart(void *tree) {
  sp_report_tree_clear(tree);
}

static void report_run_tree(report_job *job) {
  sp_report_tree tree;

  sp_report_tree_init(&tree, job->report.mem);
  job->report.listener =
      (sp_report_listener){report_tree_stack, report_tree_restart, &tree};
  report_read(job, &job->report, false);
  if (report_is_any(job))
    report_fail(job, sp_report_print_tree(&job->report, &tree, &job->printer));
  sp_report_tree_clear(&tree);
}

static void report_run_peek(report_job *job) {
  sp_report_peek peek;

  sp_report_peek_init(&peek, &job->report);
  job->report.listener =
      (sp_report_listener){sp_report_peek_stack, sp_report_peek_restart, &peek};
  report_read(job, &job->report, false);
  if (report_is_any(job) && job->arguments.json)
    report_fail(job, sp_report_print_json(&job->report, &peek, &job->printer));
  else if (report_is_any(job))
    sp_report_print_peek(&peek, &job->printer);
  sp_report_peek_dispose(&peek);
}

static void report_run_tables(report_job *job) {
  report_read(job, &job->report, false);
  if (!report_is_any(job))
    return;
  if (job->arguments.json)
    report_fail(job, sp_report_print_json(&job->report, NULL, &job->printer));
  else if (job->arguments.options.all_labels)
    report_fail(job, sp_report_print_labels(&job->report, &job->printer));
  else
    report_fail(job, sp_report_print_text(&job->report, &job->printer));
}

/* Compare two reports that have samples. */
static void report_compare(report_job *job, const sp_report *base) {
  sp_diff diff = {.base = base,
                  .now = &job->report,
                  .scale = 1,
                  .is_of_shares = job->arguments.normalize,
                  .fail_above = job->arguments.fail_above};

  if (report_is_html(job)) {
    job->html[0].report = base;
    report_write_html(job, &job->html[0]);
    return;
  }
  if (job->arguments.normalize)
    diff.scale =
        (double)job->report.selected.value / (double)base->selected.value;
  report_fail(job, job->arguments.json
                       ? sp_diff_print_json(&diff, &job->printer)
                       : sp_diff_print_text(&diff, &job->printer));
  /* Do not report growth if a file or the server could not be read completely,
   * because missing data in the base looks like growth. */
  if (diff.grown && job->status == SP_EXIT_OK)
    job->status = SP_EXIT_GREW;
}

/* Read the base, then the report with the value type of the base, and compare
 * them. An empty side is an error, because a comparison with it would find no
 * growth. */
static void report_run_diff(report_job *job) {
  const sp_report_arguments *arguments = &job->arguments;
  sp_report_options options = arguments->options;
  spanprof_status st;
  sp_report base;

  if (report_is_html(job))
    sp_html_side_init(&job->html[0], &job->report);
  report_read(job, &job->report, true);
  base = job->report;
  options.type = base.type;
  st = sp_report_init(&job->report, base.mem, &options);
  if (!st && report_is_html(job))
    sp_html_side_init(&job->html[1], &job->report);
  if (!st) {
    report_read(job, &job->report, false);
    if (base.selected.value <= 0 || job->report.selected.value <= 0)
      st = sp_fail(SPANPROF_ERR_ARGUMENT,
                   "nothing to compare: no samples match in %s",
                   base.selected.value <= 0 ? "the base" : "the profiles");
  }
  if (st)
    report_fail(job, st);
  else
    report_compare(job, &base);
  sp_html_side_dispose(&job->html[0]);
  sp_html_side_dispose(&job->html[1]);
  sp_report_dispose(&job->report);
  job->report = base;
}

static void report_run(report_job *job) {
  const sp_report_arguments *arguments = &job->arguments;

  if (arguments->failed)
    job->status = SP_EXIT_FAILED;
  if (arguments->failed && arguments->from_server)
    return; /* memory ran out, so the query for the server is incomplete */
  job->printer =
      (sp_report_printer){.out = arguments->io->out,
                          .order = arguments->order,
                          .top = arguments->top_given ? arguments->top
                                 : arguments->json    ? 0
                                                      : REPORT_TOP_DEFAULT};
  if (report_is_html(job) && sp_report_html_check()) {
    report_fail(job, SPANPROF_ERR_UNSUPPORTED);
    return;
  }
  if (sp_report_init(&job->report, arguments->io->mem, &arguments->options)) {
    report_fail(job, SPANPROF_ERR_NOMEM);
    return;
  }
  if (arguments->diff)
    report_run_diff(job);
  else if (report_is_html(job))
    report_run_html(job);
  else if (arguments->folded)
    report_run_folded(job);
  else if (arguments->tree)
    report_run_tree(job);
  else if (arguments->options.peek.given)
    report_run_peek(job);
  else
    report_run_tables(job);
  sp_report_dispose(&job->report);
}

int sp_command_report(const sp_command_io *io, int argc, char **argv) {
  report_job job = {.status = SP_EXIT_OK};

  if (!sp_report_arguments_read(&job.arguments, io, argc, argv))
    job.status = SP_EXIT_USAGE;
  else if (job.arguments.help)
    sp_report_arguments_help(&job.arguments, io->out);
  else
    report_run(&job);
  sp_report_arguments_dispose(&job.arguments);
  return job.status;
}

int sp_command_labels(const sp_command_io *io, int argc, char **argv) {
  return sp_command_report(io, argc, argv);
}
