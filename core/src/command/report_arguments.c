#include "report_arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../util/clock.h"
#include "../util/status.h"
#include "../util/utf8.h"
#include "arguments.h"
#include "moment.h"

static const char report_usage[] =
    "usage: spanprof report [OPTION...] FILE|DIRECTORY...\n"
    "\n"
    "Adds up pprof profiles, gzip or not, of any program: CPU seconds by span\n"
    "name, the spans with the most CPU and their ids, the top functions. A\n"
    "span's total is its own time (self) and that of the spans in it. In a\n"
    "directory and below, files named *.pb.gz, *.pb, *.pprof and *.prof; - is\n"
    "standard input. A profile that is given twice counts once.\n"
    "\n"
    "Beside each row stand the samples that it rests on, and how far off they\n"
    "may be (\xc2\xb1, in 95 of 100 cases); ? where they are too few to rank.\n"
    "\n";

static const char report_labels_usage[] =
    "usage: spanprof labels [OPTION...] FILE|DIRECTORY...\n"
    "\n"
    "Lists the labels of pprof profiles and their values, with the CPU "
    "seconds\n"
    "of each: what `spanprof report --label` and `--group-by` take. Files and\n"
    "directories as for `spanprof report`.\n"
    "\n";

static const char report_more[] =
    "\n"
    "Times in --folded and --json are nanoseconds. Exit status: 1 if a file\n"
    "could not be read or is no profile (the others are read), 2 for wrong "
    "usage,\n"
    "3 if --fail-above found growth.\n";

enum report_argument {
  REPORT_SPAN,
  REPORT_SPAN_NAME,
  REPORT_SELF,
  REPORT_LABEL,
  REPORT_FOCUS,
  REPORT_IGNORE,
  REPORT_FROM,
  REPORT_UNTIL,
  REPORT_APPLICATION,
  REPORT_PROCESS,
  REPORT_TYPE,
  REPORT_TOP,
  REPORT_JSON,
  REPORT_OF_LABELS, /* so many does `spanprof labels` have */
  REPORT_GROUP_BY = REPORT_OF_LABELS,
  REPORT_SORT,
  REPORT_LINES,
  REPORT_PEEK,
  REPORT_TREE,
  REPORT_FOLDED,
  REPORT_DIFF,
  REPORT_FAIL_ABOVE,
  REPORT_NORMALIZE,
  REPORT_HTML,
  REPORT_OPEN,
  REPORT_TITLE,
  REPORT_ARGUMENTS
};

static const sp_argument report_table[] = {
    [REPORT_SPAN] = {"span", "ID",
                     "samples of one span (16 hex digits) and the spans\n"
                     "in it only"},
    [REPORT_SPAN_NAME] = {"span-name", "NAME",
                          "of spans with this name, and those in them, only"},
    [REPORT_SELF] = {"self", NULL, "with these two: without the spans in them"},
    [REPORT_LABEL] = {"label", "KEY=VALUE",
                      "with this label only; may be repeated, all must\n"
                      "match"},
    [REPORT_FOCUS] = {"focus", "REGEX",
                      "stacks only with a function, file or module that\n"
                      "matches"},
    [REPORT_IGNORE] = {"ignore", "REGEX", "without the stacks that have one"},
    [REPORT_FROM] = {"from", "TIME",
                     "profiles from then on only: -1h, 1m30s (ago),\n"
                     "\"2026-11-21 16:00\" (UTC), 2026-11-21T16:00:00Z,\n"
                     "a Unix time"},
    [REPORT_UNTIL] = {"until", "TIME",
                      "and before then; one that lies across counts whole"},
    [REPORT_APPLICATION] = {"application", "NAME",
                            "profiles of this application only"},
    [REPORT_PROCESS] = {"process", "PID",
                        "of this process only, by the file's name"},
    [REPORT_TYPE] = {"type", "NAME",
                     "what to add up; default cpu, else the profile's own\n"
                     "default"},
    [REPORT_TOP] = {"top", "N",
                    "rows of each table, 0 for all; default 20, with\n"
                    "--json all"},
    [REPORT_JSON] = {"json", NULL, "print one JSON object"},
    [REPORT_GROUP_BY] = {"group-by", "LABEL", "a table of the label's values"},
    [REPORT_SORT] = {"sort", "self|total",
                     "order of the tables; default self for functions,\n"
                     "total for the others"},
    [REPORT_LINES] = {"lines", NULL, "tell a function's lines apart"},
    [REPORT_PEEK] = {"peek", "REGEX",
                     "callers and callees of the functions that match"},
    [REPORT_TREE] = {"tree", NULL,
                     "print the calls, but branches below 1 %; --top 0:\n"
                     "all"},
    [REPORT_FOLDED] = {"folded", NULL,
                       "print stacks, \"outer;inner value\" a line"},
    [REPORT_DIFF] = {"diff", "BASE",
                     "compare with this file or directory; may be\n"
                     "repeated"},
    [REPORT_FAIL_ABOVE] = {"fail-above", "N%",
                           "with --diff: exit status 3 if the total of a span\n"
                           "name (with --group-by: of a value) grew by more,\n"
                           "and beyond what chance makes of so many samples"},
    [REPORT_NORMALIZE] = {"normalize", NULL,
                          "with --diff: multiply the base so that the totals\n"
                          "are equal, and compare shares"},
    [REPORT_HTML] = {"html", "FILE",
                     "write a page with a flame graph and the span table, one\n"
                     "file that opens without a network; - is standard output"},
    [REPORT_OPEN] = {"open", NULL,
                     "show this page in the browser; without --html a\n"
                     "temporary file"},
    [REPORT_TITLE] = {"title", "TEXT", "the heading of this page"},
};

static bool report_is_labels(const sp_report_arguments *job) {
  return strcmp(job->word, "labels") == 0;
}

static size_t report_table_count(const sp_report_arguments *job) {
  return report_is_labels(job) ? REPORT_OF_LABELS : REPORT_ARGUMENTS;
}

void sp_report_arguments_help(const sp_report_arguments *job, FILE *out) {
  fputs(report_is_labels(job) ? report_labels_usage : report_usage, out);
  sp_arguments_help(report_table, report_table_count(job), out);
  fputs(report_more, out);
}

/* "spanprof report: --top "x": a number expected" */
static bool report_wrong(const sp_report_arguments *job, int argument,
                         const char *value, const char *expected) {
  char shown[81];

  shown[sp_utf8_printable(value, strlen(value), shown, sizeof shown - 1)] =
      '\0';
  fprintf(job->io->err, "spanprof %s: --%s \"%s\": %s\n", job->word,
          report_table[argument].name, shown, expected);
  return false;
}

static bool report_says(const sp_report_arguments *job, const char *sentence) {
  sp_command_complain(job->io, job->word, NULL, sentence);
  return false;
}

/* A whole number up to `most`. */
static bool report_number(const char *value, uint64_t most, uint64_t *out) {
  char *end;

  errno = 0;
  *out = strtoumax(value, &end, 10);
  return *value >= '0' && *value <= '9' && !*end && !errno && *out <= most;
}

static bool report_read_top(sp_report_arguments *job, const char *value) {
  uint64_t top;

  if (!report_number(value, UINT32_MAX, &top))
    return report_wrong(job, REPORT_TOP, value,
                        "a number from 0 to 4294967295 expected");
  job->top = (size_t)top;
  job->top_given = true;
  return true;
}

static bool report_read_process(sp_report_arguments *job, const char *value) {
  if (report_number(value, INT32_MAX, &job->profiles.process) &&
      job->profiles.process)
    return true;
  return report_wrong(job, REPORT_PROCESS, value,
                      "the number of a process expected");
}

static bool report_read_time(sp_report_arguments *job, int argument,
                             const char *value, uint64_t *out_ns) {
  if (!sp_moment_parse(value, sp_clock_unix_ns(sp_clock_system()), out_ns))
    return true;
  return report_wrong(job, argument, value,
                      "a time expected, as -1h30m, now, "
                      "2026-11-21T16:00:00Z or a Unix time");
}

static bool report_read_pattern(sp_report_arguments *job, int argument,
                                const char *value, sp_pattern *pattern) {
  if (!sp_pattern_set(pattern, value))
    return true;
  return report_wrong(job, argument, value, spanprof_last_error());
}

static bool report_read_order(sp_report_arguments *job, const char *value) {
  if (strcmp(value, "self") == 0)
    job->order = SP_REPORT_BY_SELF;
  else if (strcmp(value, "total") == 0)
    job->order = SP_REPORT_BY_TOTAL;
  else
    return report_wrong(job, REPORT_SORT, value, "self or total expected");
  return true;
}

static bool report_read_fail_above(sp_report_arguments *job,
                                   const char *value) {
  const size_t digits = strspn(value, "0123456789.");
  char *end;

  job->fail_above = strtod(value, &end) / 100;
  if (digits && end == value + digits && job->fail_above <= 1e6 &&
      (!*end || strcmp(end, "%") == 0))
    return true;
  return report_wrong(job, REPORT_FAIL_ABOVE, value,
                      "a percentage expected, as 10%");
}

/* Options of which samples and profiles are meant. False: said what is wrong.
 */
static bool report_read_filter(sp_report_arguments *job, int argument,
                               const char *value) {
  sp_report_filter *filter = &job->options.filter;

  switch (argument) {
  case REPORT_SPAN:
    filter->by_span = true;
    return sp_span_id_parse(value, &filter->span) ||
           report_wrong(job, argument, value, "16 hex digits expected");
  case REPORT_SPAN_NAME:
    filter->span_name = value;
    return true;
  case REPORT_SELF:
    filter->self = true;
    return true;
  case REPORT_LABEL:
    return !sp_report_filter_label(filter, value) ||
           report_wrong(job, argument, value,
                        "key=value, at most 32 times, expected");
  case REPORT_FOCUS:
    return report_read_pattern(job, argument, value, &filter->focus);
  case REPORT_IGNORE:
    return report_read_pattern(job, argument, value, &filter->ignore);
  case REPORT_FROM:
    return report_read_time(job, argument, value, &job->profiles.from_ns);
  case REPORT_UNTIL:
    return report_read_time(job, argument, value, &job->profiles.until_ns);
  case REPORT_APPLICATION:
    job->profiles.application = value;
    return true;
  default:
    return report_read_process(job, value);
  }
}

/* Options of what is printed. */
static bool report_read_shape(sp_report_arguments *job, int argument,
                              const char *value) {
  switch (argument) {
  case REPORT_TYPE:
    job->options.type = value;
    return true;
  case REPORT_TOP:
    return report_read_top(job, value);
  case REPORT_GROUP_BY:
    job->options.group_by = value;
    return *value ||
           report_wrong(job, argument, value, "the name of a label expected");
  case REPORT_SORT:
    return report_read_order(job, value);
  case REPORT_PEEK:
    return report_read_pattern(job, argument, value, &job->options.peek);
  case REPORT_DIFF:
    job->diff = true;
    job->first_base = value;
    if (sp_profile_list_add(&job->base, value))
      job->failed = !report_says(job, spanprof_last_error());
    return true;
  case REPORT_FAIL_ABOVE:
    return report_read_fail_above(job, value);
  case REPORT_HTML:
    job->html = value;
    return *value || report_wrong(job, argument, value, "a file expected");
  case REPORT_TITLE:
    job->title = value;
    return true;
  case REPORT_OPEN:
    job->open = true;
    return true;
  case REPORT_LINES:
    job->options.lines = true;
    return true;
  case REPORT_NORMALIZE:
    job->normalize = true;
    return true;
  case REPORT_TREE:
    job->tree = true;
    return true;
  case REPORT_FOLDED:
    job->folded = true;
    return true;
  default:
    job->json = true;
    return true;
  }
}

/* Options of the page that do not go together, or with others. */
static bool report_html_is_sound(const sp_report_arguments *job) {
  const bool other = job->json || job->tree || job->folded ||
                     job->options.peek.given || job->normalize ||
                     job->fail_above >= 0 || job->options.group_by;

  if (!job->html && !job->open)
    return !job->title || report_says(job, "--title needs --html or --open");
  if (other)
    return report_says(job, "--html and --open go with filters, --lines and "
                            "--diff, not with other shapes of a report");
  if (job->open && job->html && strcmp(job->html, "-") == 0)
    return report_says(job, "--open needs a file, not standard output");
  return true;
}

/* Options that do not go together. */
static bool report_is_sound(const sp_report_arguments *job) {
  const sp_report_filter *filter = &job->options.filter;
  const bool peek = job->options.peek.given;

  if (job->folded + job->json + job->tree > 1 ||
      peek + job->folded + job->tree + job->diff > 1)
    return report_says(job, "of --folded, --tree, --peek and --diff only one "
                            "goes at a time; --json with the last two");
  if (!report_html_is_sound(job))
    return false;
  if (filter->self && !filter->by_span && !filter->span_name)
    return report_says(job, "--self needs --span or --span-name");
  if (!job->diff && (job->fail_above >= 0 || job->normalize))
    return report_says(job, "--fail-above and --normalize need --diff");
  if (job->profiles.until_ns && job->profiles.until_ns <= job->profiles.from_ns)
    return report_says(job, "--until is not after --from");
  return true;
}

bool sp_report_arguments_read(sp_report_arguments *job, const sp_command_io *io,
                              int argc, char **argv) {
  sp_arguments arguments;
  const char *value;
  bool any = false, good;
  int found;

  *job = (sp_report_arguments){.io = io, .word = argv[0], .fail_above = -1};
  sp_profile_list_init(&job->files, io->mem);
  sp_profile_list_init(&job->base, io->mem);
  job->options.all_labels = report_is_labels(job);
  sp_arguments_init(&arguments, report_table, report_table_count(job), argc,
                    argv);
  while ((found = sp_arguments_next(&arguments, &value)) != SP_ARGUMENT_END) {
    if (found == SP_ARGUMENT_WRONG)
      return report_says(job, spanprof_last_error());
    job->help = job->help || found == SP_ARGUMENT_HELP;
    if (found == SP_ARGUMENT_OPERAND) {
      any = true;
      if (job->operands++ == 0)
        job->first = value;
      if (sp_profile_list_add(&job->files, value))
        job->failed = !report_says(job, spanprof_last_error());
    } else if (found >= 0) {
      good = found <= REPORT_PROCESS ? report_read_filter(job, found, value)
                                     : report_read_shape(job, found, value);
      if (!good)
        return false;
    }
  }
  if (job->help)
    return true;
  if (!report_is_sound(job))
    return false;
  if (!any)
    sp_report_arguments_help(job, io->err);
  return any;
}

void sp_report_arguments_dispose(sp_report_arguments *job) {
  sp_pattern_dispose(&job->options.filter.focus);
  sp_pattern_dispose(&job->options.filter.ignore);
  sp_pattern_dispose(&job->options.peek);
  sp_profile_list_dispose(&job->files);
  sp_profile_list_dispose(&job->base);
}
