#include "command.h"

#include "flags.h"
#include "profile_list.h"
#include "progress.h"
#include "report_folded.h"
#include "report_print.h"

#include "../util/utf8.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_TOP 20

static const char report_usage[] =
    "usage: spanprof report [OPTION...] FILE|DIRECTORY...\n"
    "\n"
    "Adds up pprof profiles, gzip or not, of any program: CPU seconds by span\n"
    "name, the slowest spans with their ids, the top functions. A span's "
    "total\n"
    "is its own time (self) and that of the spans in it. In a directory\n"
    "and below, files named *.pb.gz, *.pb, *.pprof and *.prof; - is standard\n"
    "input.\n"
    "\n"
    "  --span ID          samples of one span (16 hex digits) and the spans\n"
    "                     in it only\n"
    "  --span-name NAME   of spans with this name, and those in them, only\n"
    "  --self             with these two: without the spans in them\n"
    "  --label KEY=VALUE  with this label only; may be repeated, all must "
    "match\n"
    "  --type NAME        what to add up; default cpu, else the profile's own\n"
    "                     default\n"
    "  --top N            rows of each table, 0 for all; default 20, with\n"
    "                     --json all\n"
    "  --folded           print stacks, \"outer;inner value\" a line\n"
    "  --json             print one JSON object\n"
    "\n"
    "Times in --folded and --json are nanoseconds. Exit status: 1 if a file\n"
    "could not be read or is no profile (the others are read), 2 for wrong "
    "usage.\n";

enum report_flag {
  REPORT_SPAN,
  REPORT_SPAN_NAME,
  REPORT_SELF,
  REPORT_LABEL,
  REPORT_TYPE,
  REPORT_TOP_ROWS,
  REPORT_FOLDED,
  REPORT_JSON,
  REPORT_HELP
};

static const sp_flag report_flags[] = {
    [REPORT_SPAN] = {"--span", true},
    [REPORT_SPAN_NAME] = {"--span-name", true},
    [REPORT_SELF] = {"--self", false},
    [REPORT_LABEL] = {"--label", true},
    [REPORT_TYPE] = {"--type", true},
    [REPORT_TOP_ROWS] = {"--top", true},
    [REPORT_FOLDED] = {"--folded", false},
    [REPORT_JSON] = {"--json", false},
    [REPORT_HELP] = {"--help", false},
};

typedef struct report_job {
  const sp_command_io *io;
  sp_report_filter filter;
  const char *type;
  bool top_given;
  size_t top;
  bool folded;
  bool json;
  bool help;
  sp_profile_list files;
  sp_report report;
  int status;
} report_job;

/* "spanprof report: {how}{path}: {why}". A file's name may hold anything. */
static void report_say(report_job *job, const char *how, const char *path) {
  char shown[PATH_MAX];

  shown[sp_utf8_printable(path, strlen(path), shown, sizeof shown - 1)] = '\0';
  fprintf(job->io->err, "spanprof report: %s%s: %s\n", how, shown,
          spanprof_last_error());
}

static void report_complain(report_job *job, const char *path) {
  if (path)
    report_say(job, "", path);
  else
    fprintf(job->io->err, "spanprof report: %s\n", spanprof_last_error());
  job->status = SP_EXIT_FAILED;
}

static bool report_wrong(const report_job *job, const char *flag,
                         const char *value, const char *expected) {
  fprintf(job->io->err, "spanprof report: %s \"%.80s\": %s expected\n", flag,
          value, expected);
  return false;
}

static bool report_read_top(report_job *job, const char *value) {
  char *end;
  unsigned long top = strtoul(value, &end, 10);

  if (*value < '0' || *value > '9' || *end)
    return report_wrong(job, "--top", value, "a number");
  job->top = top;
  job->top_given = true;
  return true;
}

/* One option. False: said what is wrong with it. */
static bool report_read_flag(report_job *job, int flag, const char *value) {
  switch (flag) {
  case REPORT_SPAN:
    job->filter.by_span = true;
    if (!sp_span_id_parse(value, &job->filter.span))
      return report_wrong(job, "--span", value, "16 hex digits");
    return true;
  case REPORT_SPAN_NAME:
    job->filter.span_name = value;
    return true;
  case REPORT_SELF:
    job->filter.self = true;
    return true;
  case REPORT_LABEL:
    if (sp_report_filter_label(&job->filter, value) != SPANPROF_OK)
      return report_wrong(job, "--label", value,
                          "key=value, at most 32 times,");
    return true;
  case REPORT_TYPE:
    job->type = value;
    return true;
  case REPORT_TOP_ROWS:
    return report_read_top(job, value);
  case REPORT_FOLDED:
    job->folded = true;
    return true;
  case REPORT_JSON:
    job->json = true;
    return true;
  default:
    job->help = true;
    return true;
  }
}

/* Options and files. False: said what is wrong. A file that is not there is no
 * wrong usage. */
static bool report_read_arguments(report_job *job, int argc, char **argv) {
  sp_flags flags;
  const char *value;
  bool any = false;
  int flag;

  sp_flags_init(&flags, argc, argv);
  while ((flag = sp_flags_next(&flags, report_flags, SP_COUNT_OF(report_flags),
                               &value)) != SP_FLAG_END) {
    if (flag == SP_FLAG_WRONG) {
      report_complain(job, NULL);
      return false;
    }
    any = any || flag == SP_FLAG_OPERAND;
    if (flag == SP_FLAG_OPERAND) {
      if (sp_profile_list_add(&job->files, value) != SPANPROF_OK)
        report_complain(job, NULL);
    } else if (!report_read_flag(job, flag, value)) {
      return false;
    }
  }
  if (job->folded && job->json)
    fputs("spanprof report: --folded and --json exclude each other\n",
          job->io->err);
  else if (job->filter.self && !job->filter.by_span && !job->filter.span_name)
    fputs("spanprof report: --self needs --span or --span-name\n",
          job->io->err);
  else if (!any && !job->help)
    fputs(report_usage, job->io->err);
  else
    return true;
  return false;
}

static spanprof_status report_open(const report_job *job, const char *path,
                                   sp_pprof **out) {
  char *bytes;
  size_t size;
  spanprof_status st = sp_profile_file_read(path, job->io->mem, &bytes, &size);

  *out = NULL;
  if (st == SPANPROF_OK)
    st = sp_pprof_read(out, job->io->mem, bytes, size);
  sp_mem_free(job->io->mem, bytes);
  return st;
}

/* Of profiles of several types, those of the CPU are meant: the first one may
 * be another. Standard input can be read only once. */
static const char *report_find_cpu(const report_job *job) {
  bool found = false;
  size_t i;

  for (i = 0; i < job->files.count && job->files.count > 1 && !found; i++) {
    const char *path = job->files.paths[i];
    sp_pprof *profile = NULL;

    if (strcmp(path, "-") != 0 && report_open(job, path, &profile) == 0)
      found = sp_pprof_type_find(profile, "cpu") != SP_PPROF_NONE;
    sp_pprof_free(profile);
  }
  return found ? "cpu" : NULL;
}

/* A profile of another type is left out, and told, but no failure. */
static void report_read_file(report_job *job, const char *path,
                             sp_progress *progress) {
  sp_pprof *profile;
  spanprof_status st = report_open(job, path, &profile);

  if (st == SPANPROF_OK)
    st = sp_report_add(&job->report, profile);
  sp_pprof_free(profile);
  if (st == SPANPROF_OK)
    return;
  sp_progress_clear(progress);
  if (st == SPANPROF_ERR_UNSUPPORTED)
    report_say(job, "left out: ", path);
  else
    report_complain(job, path);
}

static void report_read_files(report_job *job) {
  sp_progress progress;
  size_t i;

  sp_progress_init(&progress, job->io->err);
  for (i = 0; i < job->files.count; i++) {
    sp_progress_step(&progress, i, job->files.count);
    report_read_file(job, job->files.paths[i], &progress);
  }
  sp_progress_clear(&progress);
}

static spanprof_status report_print(report_job *job, sp_report_folded *folded) {
  if (job->report.profiles == 0) {
    job->status = SP_EXIT_FAILED;
    return SPANPROF_OK;
  }
  if (job->folded) {
    sp_report_folded_flush(folded);
    return SPANPROF_OK;
  }
  if (job->json)
    return sp_report_print_json(&job->report, job->top_given ? job->top : 0,
                                job->io->out);
  return sp_report_print_text(
      &job->report, job->top_given ? job->top : REPORT_TOP, job->io->out);
}

static void report_run(report_job *job) {
  const char *type = job->type ? job->type : report_find_cpu(job);
  sp_report_folded folded;

  if (sp_report_init(&job->report, job->io->mem, &job->filter, type) !=
      SPANPROF_OK) {
    report_complain(job, NULL);
    return;
  }
  sp_report_folded_init(&folded, &job->report, job->io->out);
  if (job->folded)
    job->report.listener =
        (sp_report_listener){.stack = sp_report_folded_stack, .data = &folded};
  report_read_files(job);
  if (report_print(job, &folded) != SPANPROF_OK)
    report_complain(job, NULL);
  sp_report_folded_dispose(&folded);
  sp_report_dispose(&job->report);
}

int sp_command_report(const sp_command_io *io, int argc, char **argv) {
  report_job job = {.io = io, .status = SP_EXIT_OK};

  sp_profile_list_init(&job.files, io->mem);
  if (!report_read_arguments(&job, argc, argv))
    job.status = SP_EXIT_USAGE;
  else if (job.help)
    fputs(report_usage, io->out);
  else
    report_run(&job);
  sp_profile_list_dispose(&job.files);
  return job.status;
}
