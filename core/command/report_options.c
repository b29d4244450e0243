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
    "*.pprof and *.prof in it and its subdirectories; - stands for standard\n"
    "input. A profile that is given twice counts once.\n"
    "\n"
    "Files may also be folded stacks, perf script, speedscope, .cpuprofile,\n"
    ".heapprofile, Chrome traces, Firefox profiles, JSON of stackprof, or\n"
    "flamebearer of Pyroscope. Their threads have the label \"thread\".\n"
    "\n"
    "Each row shows its number of samples and, below \xc2\xb1, their "
    "statistical\n"
    "uncertainty (95 % confidence). A ? marks too few samples to rank the "
    "row.\n"
    "\n";

static const char report_labels_usage[] =
    "usage: spanprof labels [OPTION...] FILE|DIRECTORY...\n"
    "       spanprof labels [OPTION...] --server URL [--query QUERY]\n"
    "\n"
    "Lists the labels of pprof profiles, and the CPU seconds of each label\n"
    "value. The options --label and --group-by of `spanprof report` select by\n"
    "these labels. A directory stands for the files named *.pb.gz, *.pb,\n"
    "*.pprof and *.prof in it and its subdirectories; - stands for standard\n"
    "input.\n"
    "\n";

static const char report_more[] =
    "\n"
    "The output of --folded and --json has times in nanoseconds. Exit status:\n"
    "0 for success; 1 if a file could not be read or is not a profile (the\n"
    "output then covers the other files); 2 for wrong usage; 3 if "
    "--fail-above\n"
    "found growth.\n";

const sp_argument sp_report_options_table[SP_REPORT_OPTIONS] = {
    [SP_REPORT_OPTION_SPAN] =
        {"span", "ID",
         "only the span with this id (16 hex digits) and its\n"
         "descendants"},
    [SP_REPORT_OPTION_SPAN_NAME] =
        {"span-name", "NAME",
         "only spans with this name and their descendants"},
    [SP_REPORT_OPTION_SELF] =
        {"self", NULL, "with --span or --span-name: exclude descendants"},
    [SP_REPORT_OPTION_LABEL] =
        {"label", "KEY=VALUE",
         "only samples with this label; if repeated, only\n"
         "samples with all these labels"},
    [SP_REPORT_OPTION_FOCUS] =
        {"focus", "REGEX",
         "only stacks with a matching function, file or module"},
    [SP_REPORT_OPTION_IGNORE] =
        {"ignore", "REGEX",
         "only stacks without a matching function, file or\n"
         "module"},
    [SP_REPORT_OPTION_FROM] =
        {"from", "TIME",
         "only profiles from this time on: -1h30m, today,\n"
         "14:05, \"yesterday 14:05\", \"2026-11-21 16:00\" (local\n"
         "time), 2026-11-21T16:00Z, a Unix time. \"yesterday\"\n"
         "or \"last week\" without --until is the whole period"},
    [SP_REPORT_OPTION_UNTIL] = {"until", "TIME",
                                "only profiles before this time"},
    [SP_REPORT_OPTION_APPLICATION] = {"application", "NAME",
                                      "only profiles of this application"},
    [SP_REPORT_OPTION_PROCESS] =
        {"process", "PID", "only profiles whose file name has this process id"},
    [SP_REPORT_OPTION_SERVER] =
        {"server", "URL",
         "query the `spanprof serve` at this address instead of\n"
         "reading files; default: PYROSCOPE_SERVER_ADDRESS.\n"
         "Without --from, the last hour is queried"},
    [SP_REPORT_OPTION_QUERY] =
        {"query", "QUERY",
         "with a server: query these series, for example\n"
         "shop.cpu or\n"
         "{service_name=\"shop\", host=~\"web-.*\"}"},
    [SP_REPORT_OPTION_TOKEN] = {"token", "TOKEN",
                                "token for the server; a token in\n"
                                "PYROSCOPE_AUTH_TOKEN is not visible in `ps`"},
    [SP_REPORT_OPTION_TYPE] =
        {"type", "NAME",
         "type of the values; default: cpu, or the profile's\n"
         "default type if it has no values of type cpu"},
    [SP_REPORT_OPTION_TOP] =
        {"top", "N",
         "print at most N rows of each table, with 0 all rows;\n"
         "default: 20, or all rows with --json"},
    [SP_REPORT_OPTION_JSON] = {"json", NULL, "print one JSON object"},
    [SP_REPORT_OPTION_GROUP_BY] = {"group-by", "LABEL",
                                   "add a table of the values of this label"},
    [SP_REPORT_OPTION_SORT] = {"sort", "self|total",
                               "sort tables by this value; default: self for\n"
                               "functions, total for the other tables"},
    [SP_REPORT_OPTION_LINES] =
        {"lines", NULL, "count each source line of a function separately"},
    [SP_REPORT_OPTION_MINE] =
        {"mine", NULL,
         "only functions in the application's own files, without\n"
         "packages and standard libraries; the time of other\n"
         "code belongs to the function that called it"},
    [SP_REPORT_OPTION_PEEK] =
        {"peek", "REGEX", "print callers and callees of matching functions"},
    [SP_REPORT_OPTION_TREE] =
        {"tree", NULL,
         "print the call tree; branches below 1 % are omitted\n"
         "unless --top 0 is given"},
    [SP_REPORT_OPTION_FOLDED] =
        {"folded", NULL,
         "print folded stacks: a line \"outer;inner value\" for\n"
         "each stack"},
    [SP_REPORT_OPTION_DIFF] = {"diff", "BASE",
                               "compare with this file or directory; may be\n"
                               "repeated. With a server, BASE is a query"},
    [SP_REPORT_OPTION_DIFF_FROM] =
        {"diff-from", "TIME",
         "with a server: compare with profiles from this time\n"
         "on, selected by the query of --diff or, without\n"
         "--diff, by the query of the report"},
    [SP_REPORT_OPTION_DIFF_UNTIL] =
        {"diff-until", "TIME",
         "with a server: compare with profiles before this time"},
    [SP_REPORT_OPTION_FAIL_ABOVE] =
        {"fail-above", "N%",
         "with --diff: exit status 3 if the total of a span\n"
         "name (with --group-by: of a label value) grew by\n"
         "more than N %, and by more than chance explains"},
    [SP_REPORT_OPTION_NORMALIZE] =
        {"normalize", NULL,
         "with --diff: compare shares of the totals instead of\nvalues"},
    [SP_REPORT_OPTION_HTML] =
        {"html", "FILE",
         "write one HTML file with a flame graph and a table\n"
         "of spans, which works offline; - stands for standard\n"
         "output"},
    [SP_REPORT_OPTION_OPEN] =
        {"open", NULL,
         "show the HTML file in the browser; without --html,\n"
         "the file is a temporary one"},
    [SP_REPORT_OPTION_TITLE] = {"title", "TEXT",
                                "heading of the page in the HTML file"},
};

void sp_report_options_help(bool labels, FILE *out) {
  fputs(labels ? report_labels_usage : report_usage, out);
  sp_arguments_help(sp_report_options_table,
                    labels ? SP_REPORT_OPTIONS_OF_LABELS : SP_REPORT_OPTIONS,
                    out);
  fputs(report_more, out);
}
