/* What `spanprof report` and `spanprof labels` are asked for. */
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
  bool open;         /* the page, in a browser */
  const char *html;  /* the file for the page; NULL: not asked for */
  const char *title; /* of the page; NULL: of what it is made from */
  const char *first; /* of the files and directories */
  size_t operands;   /* how many of these there are */
  const char *first_base;
  double fail_above; /* a share; below 0: not given */
  sp_profile_list files;
  sp_profile_list base;
  bool failed;        /* a file is not there, or memory was not; it was said */
  const char **bases; /* of --diff, as given */
  size_t base_count;
  size_t base_room;
  /* In place of files. */
  bool asks_server;
  bool base_timed; /* --diff-from, --diff-until */
  sp_report_server server;
  sp_report_server base_server; /* of --diff */
  char *application_query;      /* what --application is as one */
} sp_report_arguments;

/* False: wrong usage, which was told. To be disposed of either way. A file that
 * is not there is no wrong usage. */
bool sp_report_arguments_read(sp_report_arguments *job, const sp_command_io *io,
                              int argc, char **argv);
void sp_report_arguments_dispose(sp_report_arguments *job);

/* The whole of `spanprof WORD -h`. */
void sp_report_arguments_help(const sp_report_arguments *job, FILE *out);

#endif
