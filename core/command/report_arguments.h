/* The arguments of `spanprof report` and `spanprof labels`. */
#ifndef SP_REPORT_ARGUMENTS_H
#define SP_REPORT_ARGUMENTS_H

#include "command/report/report_rows.h"
#include "command/shared/command_io.h"
#include "command/shared/profile_list.h"
#include "report_server.h"
#include "settings/unix_time.h"

typedef struct sp_report_arguments {
  const sp_command_io *io;
  const char *word; /* name of the command: "report" or "labels" */
  sp_report_options options;
  sp_profile_filter profiles;
  sp_unix_period from; /* --from and so on; zeros: not given */
  sp_unix_period until;
  sp_unix_period base_from; /* --diff-from and --diff-until */
  sp_unix_period base_until;
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
  const char *html;  /* the file to write the page to; NULL: no page */
  const char *title; /* title of the page; NULL: made from the arguments */
  const char *first; /* first FILE or DIRECTORY argument */
  size_t operands;   /* number of FILE and DIRECTORY arguments */
  const char *first_base;
  double fail_above; /* --fail-above as a share: 0.1 for 10 %; below 0: not
                      * given */
  sp_profile_list files;
  sp_profile_list base;
  bool failed;        /* a file does not exist, or memory ran out; a message was
                       * written */
  const char **bases; /* values of --diff */
  size_t base_count;
  size_t base_capacity;
  /* The following members are used if a server is queried. */
  bool from_server;
  bool base_timed; /* --diff-from or --diff-until was given */
  sp_report_server server;
  sp_report_server base_server; /* the query for the base of --diff */
  char *application_query;      /* the query that was made from --application */
} sp_report_arguments;

/* Read the arguments into `job`, which the caller disposes of in any case.
 * Returns false for wrong usage, after a message. A missing file does not count
 * as wrong usage, but sets `failed`. */
bool sp_report_arguments_read(sp_report_arguments *job, const sp_command_io *io,
                              int argc, char **argv);
void sp_report_arguments_dispose(sp_report_arguments *job);

/* Print the help of the command. */
void sp_report_arguments_help(const sp_report_arguments *job, FILE *out);

#endif
