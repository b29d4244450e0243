#include "report_options.h"

static const char report_usage[] =
    "usage: spanprof report [OPTION...] FILE|DIRECTORY...\n"
    "       spanprof report [OPTION...] --server URL [--query QUERY]\n"
    "\n"
    "Adds up pprof profiles of any program, compressed or not, and prints CPU\n"
    "seconds by span name, the spans with the most CPU and their ids, and the\n"
    "top functions. The total of a span is its own time (self) plus the time\n"
    "of its descendants. A directory stands for the files named *.pb.gz, "
    "*.pb,\n"
    "*.pprof and *.prof in it and below; - is standard input. A profile that\n"
    "is given twice counts once.\n"
    "\n"
    "Each row has its number of samples and their statistical uncertainty\n"
    "(\xc2\xb1, in 95 of 100 cases); ? for too few samples to rank.\n"
    "\n";

static const char report_labels_usage[] =
    "usage: spanprof labels [OPTION...] FILE|DIRECTORY...\n"
    "       spanprof labels [OPTION...] --server URL [--query QUERY]\n"
    "\n"
    "Lists the labels of pprof profiles and their values, with the CPU\n"
    "seconds of each, for the options --label and --group-by of\n"
    "`spanprof report`. Files and directories as for `spanprof report`.\n"
    "\n";

static const char report_more[] =
    "\n"
    "Times in --folded and --json are nanoseconds. Exit status: 1 if a file\n"
    "could not be read or is not a profile (the others are read), 2 for wrong\n"
    "usage, 3 if --fail-above found growth.\n";

const sp_argument sp_report_options_table[SP_REPORT_OPTIONS] = {
    [SP_REPORT_OPTION_SPAN] =
        {"span", "ID",
         "only the span with this id (16 hex digits) and its\n"
         "descendants"},
    [SP_REPORT_OPTION_SPAN_NAME] =
        {"span-name", "NAME",
         "only spans with this name and their descendants"},
    [SP_REPORT_OPTION_SELF] =
        {"self", NULL, "with --span or --span-name: without descendants"},
    [SP_REPORT_OPTION_LABEL] =
        {"label", "KEY=VALUE",
         "only samples with this label; may be repeated, then\n"
         "all must match"},
    [SP_REPORT_OPTION_FOCUS] =
        {"focus", "REGEX",
         "only stacks with a matching function, file or module"},
    [SP_REPORT_OPTION_IGNORE] =
        {"ignore", "REGEX",
         "only stacks without a matching function, file or\n"
         "module"},
    [SP_REPORT_OPTION_FROM] =
        {"from", "TIME",
         "only profiles from this time on: -1h30m,\n"
         "14:05, \"yesterday 14:05\", \"2026-11-21 16:00\"\n"
         "(UTC), 2026-11-21T16:00:00Z, a Unix time"},
    [SP_REPORT_OPTION_UNTIL] = {"until", "TIME",
                                "only profiles before this time"},
    [SP_REPORT_OPTION_APPLICATION] = {"application", "NAME",
                                      "only profiles of this application"},
    [SP_REPORT_OPTION_PROCESS] =
        {"process", "PID", "only profiles of this process, by file name"},
    [SP_REPORT_OPTION_SERVER] =
        {"server", "URL",
         "query this `spanprof serve`; default:\n"
         "PYROSCOPE_SERVER_ADDRESS. Without --from: the last\n"
         "hour"},
    [SP_REPORT_OPTION_QUERY] = {"query", "QUERY",
                                "query these series of a server: shop.cpu, or\n"
                                "{service_name=\"shop\", host=~\"web-.*\"}"},
    [SP_REPORT_OPTION_TOKEN] =
        {"token", "TOKEN",
         "token for the server; PYROSCOPE_AUTH_TOKEN keeps it\n"
         "out of `ps`"},
    [SP_REPORT_OPTION_TYPE] =
        {"type", "NAME",
         "value type; default: cpu, or else the profile's\n"
         "default"},
    [SP_REPORT_OPTION_TOP] =
        {"top", "N",
         "rows of each table, 0 for all; default: 20, with\n"
         "--json all"},
    [SP_REPORT_OPTION_JSON] = {"json", NULL, "print one JSON object"},
    [SP_REPORT_OPTION_GROUP_BY] = {"group-by", "LABEL",
                                   "add a table of the values of this label"},
    [SP_REPORT_OPTION_SORT] =
        {"sort", "self|total",
         "order of the tables; default: self for functions,\n"
         "total for the others"},
    [SP_REPORT_OPTION_LINES] = {"lines", NULL,
                                "distinguish the lines of a function"},
    [SP_REPORT_OPTION_PEEK] =
        {"peek", "REGEX", "print callers and callees of matching functions"},
    [SP_REPORT_OPTION_TREE] =
        {"tree", NULL,
         "print the call tree without branches below 1 %;\n"
         "with --top 0 all branches"},
    [SP_REPORT_OPTION_FOLDED] =
        {"folded", NULL,
         "print folded stacks, one line \"outer;inner value\" each"},
    [SP_REPORT_OPTION_DIFF] =
        {"diff", "BASE",
         "compare with this file or directory; may be\n"
         "repeated. With a server: compare with this query"},
    [SP_REPORT_OPTION_DIFF_FROM] =
        {"diff-from", "TIME",
         "with a server: compare with profiles from this time\n"
         "on, of the query of --diff, or else the same query"},
    [SP_REPORT_OPTION_DIFF_UNTIL] = {"diff-until", "TIME",
                                     "and before this time"},
    [SP_REPORT_OPTION_FAIL_ABOVE] =
        {"fail-above", "N%",
         "with --diff: exit status 3 if the total of a span\n"
         "name (with --group-by: of a value) grew by more\n"
         "than N % and more than chance explains"},
    [SP_REPORT_OPTION_NORMALIZE] =
        {"normalize", NULL, "with --diff: compare shares of each side's total"},
    [SP_REPORT_OPTION_HTML] =
        {"html", "FILE",
         "write one HTML file with a flame graph and the span\n"
         "table; it needs no network. - is standard output"},
    [SP_REPORT_OPTION_OPEN] =
        {"open", NULL,
         "show the HTML file in the browser; without --html a\n"
         "temporary file"},
    [SP_REPORT_OPTION_TITLE] = {"title", "TEXT", "heading of the HTML file"},
};

void sp_report_options_help(bool labels, FILE *out) {
  fputs(labels ? report_labels_usage : report_usage, out);
  sp_arguments_help(sp_report_options_table,
                    labels ? SP_REPORT_OPTIONS_OF_LABELS : SP_REPORT_OPTIONS,
                    out);
  fputs(report_more, out);
}
