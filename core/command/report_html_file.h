/* The file of the page that `spanprof report --html` and --open write. */
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

/* Create the file that --html names, or a temporary file if there is no --html.
 * SPANPROF_ERR_IO, with a sentence. */
spanprof_status sp_html_file_create(sp_html_file *file,
                                    const sp_report_arguments *arguments);

/* Close the file after everything was written to file->out. With --open, print
 * its path to the command's standard output and show it in a browser.
 * SPANPROF_ERR_IO, SPANPROF_ERR_UNSUPPORTED (no browser), with a sentence. */
spanprof_status sp_html_file_finish(sp_html_file *file);

/* Close the file after a failure. */
void sp_html_file_abandon(sp_html_file *file);

/* The heading of the page: the given one, or one made from the arguments. */
void sp_html_title(const sp_report_arguments *arguments,
                   char out[SP_HTML_TITLE_BYTES]);

#endif
