/* Where `spanprof report --html` and --open write the page. */
#ifndef SP_REPORT_HTML_FILE_H
#define SP_REPORT_HTML_FILE_H

#include <limits.h>

#include "report_arguments.h"

#define SP_HTML_TITLE_BYTES 500

typedef struct sp_html_file {
  const sp_report_arguments *arguments;
  char path[PATH_MAX]; /* "": standard output */
  FILE *out;
} sp_html_file;

/* Create the file that the arguments ask for, or a temporary one.
 * SPANPROF_ERR_IO, in a sentence. */
spanprof_status sp_html_file_create(sp_html_file *file,
                                    const sp_report_arguments *arguments);

/* After all was written to file->out: close it, and show it where that is asked
 * for, telling its path on the command's standard output. SPANPROF_ERR_IO,
 * SPANPROF_ERR_UNSUPPORTED (no browser), in a sentence. */
spanprof_status sp_html_file_finish(sp_html_file *file);

/* After a failure: close it. */
void sp_html_file_abandon(sp_html_file *file);

/* The heading of the page: as given, else what it is made from. */
void sp_html_title(const sp_report_arguments *arguments,
                   char out[SP_HTML_TITLE_BYTES]);

#endif
