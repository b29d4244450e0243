#include "report_options.h"

static const char report_usage[] =
    "usage: spanprof report [OPTION...] FILE|DIRECTORY...\n"
    "       spanprof report [OPTION...] --server URL [--query QUERY]\n"
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
    "       spanprof labels [OPTION...] --server URL [--query QUERY]\n"
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

const sp_argument sp_report_options_table[SP_REPORT_OPTIONS] = {
    [SP_REPORT_OPTION_SPAN] =
        {"span", "ID",
         "samples of one span (16 hex digits) and the spans\n"
         "in it only"},
    [SP_REPORT_OPTION_SPAN_NAME] =
        {"span-name", "NAME",
         "of spans with this name, and those in them, only"},
    [SP_REPORT_OPTION_SELF] = {"self", NULL,
                               "with these two: without the spans in them"},
    [SP_REPORT_OPTION_LABEL] =
        {"label", "KEY=VALUE",
         "with this label only; may be repeated, all must\n"
         "match"},
    [SP_REPORT_OPTION_FOCUS] =
        {"focus", "REGEX",
         "stacks only with a function, file or module that\n"
         "matches"},
    [SP_REPORT_OPTION_IGNORE] = {"ignore", "REGEX",
                                 "without the stacks that have one"},
    [SP_REPORT_OPTION_FROM] =
        {"from", "TIME",
         "only profiles from this time on: -1h30m,\n"
         "14:05, \"yesterday 14:05\", \"2026-11-21 16:00\"\n"
         "(UTC), 2026-11-21T16:00:00Z, a Unix time"},
    [SP_REPORT_OPTION_UNTIL] = {"until", "TIME", "and before this time"},
    [SP_REPORT_OPTION_APPLICATION] = {"application", "NAME",
                                      "profiles of this application only"},
    [SP_REPORT_OPTION_PROCESS] = {"process", "PID",
                                  "of this process only, by the file's name"},
    [SP_REPORT_OPTION_SERVER] =
        {"server", "URL",
         "ask this `spanprof serve`, of the last hour without\n"
         "--from; default PYROSCOPE_SERVER_ADDRESS"},
    [SP_REPORT_OPTION_QUERY] = {"query", "QUERY",
                                "ask a server for these series: shop.cpu, or\n"
                                "{service_name=\"shop\", host=~\"web-.*\"}"},
    [SP_REPORT_OPTION_TOKEN] =
        {"token", "TOKEN",
         "of the server; PYROSCOPE_AUTH_TOKEN shows it to none"},
    [SP_REPORT_OPTION_TYPE] =
        {"type", "NAME",
         "what to add up; default cpu, else the profile's own\n"
         "default"},
    [SP_REPORT_OPTION_TOP] =
        {"top", "N",
         "rows of each table, 0 for all; default 20, with\n"
         "--json all"},
    [SP_REPORT_OPTION_JSON] = {"json", NULL, "print one JSON object"},
    [SP_REPORT_OPTION_GROUP_BY] = {"group-by", "LABEL",
                                   "a table of the label's values"},
    [SP_REPORT_OPTION_SORT] =
        {"sort", "self|total",
         "order of the tables; default self for functions,\n"
         "total for the others"},
    [SP_REPORT_OPTION_LINES] = {"lines", NULL, "tell a function's lines apart"},
    [SP_REPORT_OPTION_PEEK] =
        {"peek", "REGEX", "callers and callees of the functions that match"},
    [SP_REPORT_OPTION_TREE] =
        {"tree", NULL,
         "print the calls, but branches below 1 %; --top 0:\n"
         "all"},
    [SP_REPORT_OPTION_FOLDED] = {"folded", NULL,
                                 "print stacks, \"outer;inner value\" a line"},
    [SP_REPORT_OPTION_DIFF] = {"diff", "BASE",
                               "compare with this file or directory; may be\n"
                               "repeated; of a server, with this query"},
    [SP_REPORT_OPTION_DIFF_FROM] =
        {"diff-from", "TIME",
         "of a server: compare with profiles from then on,\n"
         "of --diff, else of the same query"},
    [SP_REPORT_OPTION_DIFF_UNTIL] = {"diff-until", "TIME", "and before then"},
    [SP_REPORT_OPTION_FAIL_ABOVE] =
        {"fail-above", "N%",
         "with --diff: exit status 3 if the total of a span\n"
         "name (with --group-by: of a value) grew by more,\n"
         "and beyond what chance makes of so many samples"},
    [SP_REPORT_OPTION_NORMALIZE] =
        {"normalize", NULL, "with --diff: compare shares of each side's total"},
    [SP_REPORT_OPTION_HTML] =
        {"html", "FILE",
         "write a page with a flame graph and the span table, one\n"
         "file that opens without a network; - is standard output"},
    [SP_REPORT_OPTION_OPEN] =
        {"open", NULL,
         "show this page in the browser; without --html a\n"
         "temporary file"},
    [SP_REPORT_OPTION_TITLE] = {"title", "TEXT", "the heading of this page"},
};

void sp_report_options_help(bool labels, FILE *out) {
  fputs(labels ? report_labels_usage : report_usage, out);
  sp_arguments_help(sp_report_options_table,
                    labels ? SP_REPORT_OPTIONS_OF_LABELS : SP_REPORT_OPTIONS,
                    out);
  fputs(report_more, out);
}
