#include "report_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/shared/arguments.h"
#include "report_options.h"
#include "util/memory/buffer.h"
#include "util/system/clock.h"
#include "util/system/status.h"
#include "util/text/number.h"
#include "util/text/utf8.h"

static bool report_is_labels(const sp_report_arguments *job) {
  return strcmp(job->word, "labels") == 0;
}

void sp_report_arguments_help(const sp_report_arguments *job, FILE *out) {
  sp_report_options_help(report_is_labels(job), out);
}

/* Print 'spanprof report: --top "x": a number expected', and return false. */
static bool report_wrong(const sp_report_arguments *job, int argument,
                         const char *value, const char *expected) {
  char shown[81];

  shown[sp_utf8_printable(value, strlen(value), shown, sizeof shown - 1)] =
      '\0';
  fprintf(job->io->err, "spanprof %s: --%s \"%s\": %s\n", job->word,
          sp_report_options_table[argument].name, shown, expected);
  return false;
}

static bool report_refuse(const sp_report_arguments *job,
                          const char *sentence) {
  sp_command_error(job->io, job->word, NULL, sentence);
  return false;
}

static bool report_read_top(sp_report_arguments *job, const char *value) {
  uint64_t top;

  if (!sp_number_is(value, UINT32_MAX, &top))
    return report_wrong(job, SP_REPORT_OPTION_TOP, value,
                        "a number from 0 to 4294967295 expected");
  job->top = (size_t)top;
  job->top_given = true;
  return true;
}

static bool report_read_process(sp_report_arguments *job, const char *value) {
  if (sp_number_is(value, INT32_MAX, &job->profiles.process) &&
      job->profiles.process)
    return true;
  return report_wrong(job, SP_REPORT_OPTION_PROCESS, value,
                      "a process id expected");
}

/* An sp_utc_offset of the machine's time zone. */
static int64_t report_utc_offset(int64_t unix_s) {
  const time_t seconds = (time_t)unix_s;
  struct tm parts;

  return localtime_r(&seconds, &parts) ? parts.tm_gmtoff : 0;
}

static bool report_read_time(sp_report_arguments *job, int argument,
                             const char *value, sp_unix_period *out) {
  const int64_t now_ns = (int64_t)sp_clock_unix_ns(sp_clock_system());
  const char *wrong;
  char shown[81];

  tzset();
  wrong = sp_unix_period_parse(value, now_ns, report_utc_offset, out);
  if (!wrong && out->from_ns <= 0)
    return report_wrong(job, argument, value, "a time after 1970 expected");
  if (!wrong)
    return true;
  shown[sp_utf8_printable(value, strlen(value), shown, sizeof shown - 1)] =
      '\0';
  fprintf(job->io->err, "spanprof %s: --%s: Can't read \"%s\". %s\n", job->word,
          sp_report_options_table[argument].name, shown, wrong);
  return false;
}

/* Convert the values of the two options for the beginning and the end of a
 * range. A value that was not given becomes 0. But if only `from` is given and
 * names a period, such as a day, the range is that period. */
static void report_use_range(const sp_unix_period *from,
                             const sp_unix_period *until, uint64_t *from_ns,
                             uint64_t *until_ns) {
  *from_ns = (uint64_t)from->from_ns;
  if (until->from_ns)
    *until_ns = (uint64_t)sp_unix_period_end(from, until);
  else if (from->from_ns < from->until_ns)
    *until_ns = (uint64_t)from->until_ns;
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
    return report_wrong(job, SP_REPORT_OPTION_SORT, value,
                        "self or total expected");
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
  return report_wrong(job, SP_REPORT_OPTION_FAIL_ABOVE, value,
                      "a percentage expected, such as 10%");
}

static bool report_read_label(sp_report_arguments *job, const char *value) {
  const spanprof_status st =
      sp_report_filter_label(&job->options.filter, value);

  return !st ||
         report_wrong(job, SP_REPORT_OPTION_LABEL, value,
                      st == SPANPROF_ERR_LIMIT ? "more than 32 labels are given"
                                               : "key=value expected");
}

/* Report an option that the table of options has, but this file does not read.
 */
static bool report_unread(const sp_report_arguments *job, int argument,
                          const char *value) {
  return report_wrong(job, argument, value ? value : "",
                      "this option is not implemented");
}

/* Read an option that selects samples and profiles. Returns false after a
 * message about a wrong value. */
static bool report_read_filter(sp_report_arguments *job, int argument,
                               const char *value) {
  sp_report_filter *filter = &job->options.filter;

  switch (argument) {
  case SP_REPORT_OPTION_SPAN:
    filter->by_span = true;
    return sp_span_id_parse(value, &filter->span) ||
           report_wrong(job, argument, value, "16 hex digits expected");
  case SP_REPORT_OPTION_SPAN_NAME:
    filter->span_name = value;
    return true;
  case SP_REPORT_OPTION_SELF:
    filter->self = true;
    return true;
  case SP_REPORT_OPTION_LABEL:
    return report_read_label(job, value);
  case SP_REPORT_OPTION_FOCUS:
    return report_read_pattern(job, argument, value, &filter->focus);
  case SP_REPORT_OPTION_IGNORE:
    return report_read_pattern(job, argument, value, &filter->ignore);
  case SP_REPORT_OPTION_FROM:
    return report_read_time(job, argument, value, &job->from);
  case SP_REPORT_OPTION_UNTIL:
    return report_read_time(job, argument, value, &job->until);
  case SP_REPORT_OPTION_APPLICATION:
    job->profiles.application = value;
    return true;
  case SP_REPORT_OPTION_PROCESS:
    return report_read_process(job, value);
  case SP_REPORT_OPTION_SERVER:
    job->server.address = value;
    break;
  case SP_REPORT_OPTION_QUERY:
    job->server.query = value;
    break;
  case SP_REPORT_OPTION_TOKEN:
    job->server.token = value;
    return true;
  default:
    return report_unread(job, argument, value);
  }
  job->from_server = true;
  return true;
}

/* Store the value of --diff. Whether it is a file or a query is known only when
 * all arguments have been read. */
static bool report_read_base(sp_report_arguments *job, const char *value) {
  job->diff = true;
  if (sp_mem_reserve(job->io->mem, (void **)&job->bases, &job->base_capacity,
                     job->base_count + 1, sizeof *job->bases))
    job->failed = !report_refuse(job, "out of memory");
  else
    job->bases[job->base_count++] = value;
  return true;
}

/* Read an option about the output. Returns false after a message about a wrong
 * value. */
static bool report_read_shape(sp_report_arguments *job, int argument,
                              const char *value) {
  switch (argument) {
  case SP_REPORT_OPTION_TYPE:
    job->options.type = value;
    return true;
  case SP_REPORT_OPTION_TOP:
    return report_read_top(job, value);
  case SP_REPORT_OPTION_GROUP_BY:
    job->options.group_by = value;
    return *value ||
           report_wrong(job, argument, value, "a label name expected");
  case SP_REPORT_OPTION_SORT:
    return report_read_order(job, value);
  case SP_REPORT_OPTION_PEEK:
    return report_read_pattern(job, argument, value, &job->options.peek);
  case SP_REPORT_OPTION_DIFF:
    job->first_base = value;
    return report_read_base(job, value);
  case SP_REPORT_OPTION_DIFF_FROM:
    job->diff = job->base_timed = true;
    return report_read_time(job, argument, value, &job->base_from);
  case SP_REPORT_OPTION_DIFF_UNTIL:
    job->diff = job->base_timed = true;
    return report_read_time(job, argument, value, &job->base_until);
  case SP_REPORT_OPTION_FAIL_ABOVE:
    return report_read_fail_above(job, value);
  case SP_REPORT_OPTION_HTML:
    job->html = value;
    return *value || report_wrong(job, argument, value, "a file expected");
  case SP_REPORT_OPTION_TITLE:
    job->title = value;
    return true;
  case SP_REPORT_OPTION_OPEN:
    job->open = true;
    return true;
  case SP_REPORT_OPTION_LINES:
    job->options.lines = true;
    return true;
  case SP_REPORT_OPTION_MINE:
    job->options.mine = true;
    return true;
  case SP_REPORT_OPTION_NORMALIZE:
    job->normalize = true;
    return true;
  case SP_REPORT_OPTION_TREE:
    job->tree = true;
    return true;
  case SP_REPORT_OPTION_FOLDED:
    job->folded = true;
    return true;
  case SP_REPORT_OPTION_JSON:
    job->json = true;
    return true;
  default:
    return report_unread(job, argument, value);
  }
}

/* Check whether --html, --open and --title go together, and with the other
 * options. */
static bool report_html_options_are_consistent(const sp_report_arguments *job) {
  const bool other = job->json || job->tree || job->folded ||
                     job->options.peek.given || job->normalize ||
                     job->fail_above >= 0 || job->options.group_by;

  if (!job->html && !job->open)
    return !job->title || report_refuse(job, "--title needs --html or --open");
  if (other)
    return report_refuse(
        job, "--html and --open cannot be combined with --json, --tree, "
             "--folded, --peek, --normalize, --fail-above or --group-by");
  if (job->open && job->html && strcmp(job->html, "-") == 0)
    return report_refuse(job,
                         "--open needs a file: --html names standard output");
  return true;
}

/* Check for options that exclude each other. */
static bool report_options_are_consistent(const sp_report_arguments *job) {
  const sp_report_filter *filter = &job->options.filter;
  const bool peek = job->options.peek.given;

  if (job->folded + job->json + job->tree > 1 ||
      peek + job->folded + job->tree + job->diff > 1)
    return report_refuse(job,
                         "--folded, --tree, --peek and --diff exclude each "
                         "other, and --json excludes --folded and --tree");
  if (!report_html_options_are_consistent(job))
    return false;
  if (filter->self && !filter->by_span && !filter->span_name)
    return report_refuse(job, "--self needs --span or --span-name");
  if (!job->diff && (job->fail_above >= 0 || job->normalize))
    return report_refuse(job, "--fail-above and --normalize need --diff");
  if (job->profiles.until_ns && job->profiles.until_ns <= job->profiles.from_ns)
    return report_refuse(job, "--until must be a later time than --from");
  return true;
}

/* Convert the value of --application to a query for the server. */
static void report_application_query(sp_report_arguments *job) {
  sp_buffer query;
  const char *p;
  size_t size;

  sp_buffer_init(&query, job->io->mem);
  sp_buffer_text(&query, "{service_name=\"");
  for (p = job->profiles.application; *p; p++) {
    if (*p == '"' || *p == '\\')
      sp_buffer_append(&query, "\\", 1);
    sp_buffer_append(&query, p, 1);
  }
  sp_buffer_text(&query, "\"}");
  job->server.query = job->application_query = sp_buffer_detach(&query, &size);
  if (!job->server.query)
    job->failed = !report_refuse(job, "out of memory");
}

/* Check the options for a server, and set the queries for it. */
static bool report_server_options_are_consistent(sp_report_arguments *job,
                                                 bool files) {
  if (files)
    return report_refuse(job,
                         "files cannot be combined with --server or --query");
  if (job->profiles.process)
    return report_refuse(job, "--process works only with files; with a server, "
                              "select the process by a label with --query");
  if (job->profiles.application && job->server.query)
    return report_refuse(job, "--application cannot be combined with --query");
  if (job->base_count > 1)
    return report_refuse(job, "with a server, --diff is possible only once");
  if (job->profiles.application)
    report_application_query(job);
  job->server.from_ns = job->profiles.from_ns;
  job->server.until_ns = job->profiles.until_ns;
  /* If --type is a whole profile type, such as "process_cpu:cpu:…", the server
   * selects this type, and the answer has no other one. */
  job->server.type = job->options.type;
  if (job->options.type && strchr(job->options.type, ':'))
    job->options.type = NULL;
  job->base_server.address = job->server.address;
  job->base_server.token = job->server.token;
  job->base_server.type = job->server.type;
  job->base_server.query = job->base_count ? job->bases[0] : job->server.query;
  if (!job->base_timed) {
    job->base_server.from_ns = job->server.from_ns;
    job->base_server.until_ns = job->server.until_ns;
  }
  return true;
}

static bool report_file_options_are_consistent(sp_report_arguments *job) {
  size_t i;

  if (job->base_timed)
    return report_refuse(job, "--diff-from and --diff-until need --server");
  if (job->server.token)
    return report_refuse(job, "--token needs --server");
  for (i = 0; i < job->base_count; i++)
    if (sp_profile_list_add(&job->base, job->bases[i]))
      job->failed = !report_refuse(job, spanprof_last_error());
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
  sp_arguments_init(&arguments, sp_report_options_table,
                    job->options.all_labels ? SP_REPORT_OPTIONS_OF_LABELS
                                            : SP_REPORT_OPTIONS,
                    argc, argv);
  while ((found = sp_arguments_next(&arguments, &value)) != SP_ARGUMENT_END) {
    if (found == SP_ARGUMENT_WRONG)
      return report_refuse(job, spanprof_last_error());
    job->help = job->help || found == SP_ARGUMENT_HELP;
    if (found == SP_ARGUMENT_OPERAND) {
      any = true;
      if (job->operands++ == 0)
        job->first = value;
      if (sp_profile_list_add(&job->files, value))
        job->failed = !report_refuse(job, spanprof_last_error());
    } else if (found >= 0) {
      good = found <= SP_REPORT_OPTION_TOKEN
                 ? report_read_filter(job, found, value)
                 : report_read_shape(job, found, value);
      if (!good)
        return false;
    }
  }
  if (job->help)
    return true;
  report_use_range(&job->from, &job->until, &job->profiles.from_ns,
                   &job->profiles.until_ns);
  report_use_range(&job->base_from, &job->base_until, &job->base_server.from_ns,
                   &job->base_server.until_ns);
  if (!report_options_are_consistent(job))
    return false;
  if (job->from_server)
    return report_server_options_are_consistent(job, any);
  if (!report_file_options_are_consistent(job))
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
  sp_mem_free(job->io->mem, job->bases);
  sp_mem_free(job->io->mem, job->application_query);
}
