/* The arguments of `spanprof report` and `spanprof labels`. */
#ifndef SP_REPORT_ARGUMENTS_H
#define SP_REPORT_ARGUMENTS_H

#include "command/report/report_rows.h"
#include "command/shared/command_io.h"
#include "command/shared/profile_list.h"
#include "report_server.h"

typedef struct sp_report_arguments {
  const sp_command_io *io;
  const char *word; /* "report", "labels" */
  sp_report_options options;
  sp_profile_filter profiles;
  sp_report_order order;
  bool top_given;
  size_t top;
  bool folded;
  bool json;
  bool tree;
  bool help;
  bool diff;
  bool normalize;
  bool open;         /* show the page in a browser */
  const char *html;  /* file for the page; NULL: no page */
  const char *title; /* of the page; NULL: made from the arguments */
  const char *first; /* first file or directory */
  size_t operands;   /* number of files and directories */
  const char *first_base;
  double fail_above; /* a share; below 0: not given */
  sp_profile_list files;
  sp_profile_list base;
  bool failed;        /* a file does not exist, or memory ran out; this was
                       * reported */
  const char **bases; /* arguments of --diff */
  size_t base_count;
  size_t base_capacity;
  /* If a server is used in place of files: */
  bool from_server;
  bool base_timed; /* --diff-from, --diff-until */
  sp_report_server server;
  sp_report_server base_server; /* of --diff */
  char *application_query;      /* the query that was made from --application */
} sp_report_arguments;

/* Read the arguments. Returns false for wrong usage, after a message. Dispose
 * of `job` in both cases. A missing file does not count as wrong usage. */
bool sp_report_arguments_read(sp_report_arguments *job, const sp_command_io *io,
                              int argc, char **argv);
void sp_report_arguments_dispose(sp_report_arguments *job);

/* Print the complete help of `spanprof WORD -h`. */
void sp_report_arguments_help(const sp_report_arguments *job, FILE *out);

#endif
