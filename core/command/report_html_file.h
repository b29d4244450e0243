/* The file of the page that `spanprof report --html` and --open write. */
#ifndef SP_REPORT_HTML_FILE_H
#define SP_REPORT_HTML_FILE_H

#include <limits.h>

#include "report_arguments.h"

#define SP_HTML_TITLE_BYTES 500

typedef struct sp_html_file {
  const sp_report_arguments *arguments;
  char path[PATH_MAX]; /* "" for standard output */
  FILE *out;
} sp_html_file;

/* Create the file that --html names, or a temporary file if there is no --html.
 * Returns SPANPROF_ERR_IO after a failure and sets the error message. */
spanprof_status sp_html_file_create(sp_html_file *file,
                                    const sp_report_arguments *arguments);

/* Close the file after everything was written to file->out. With --open, print
 * its path to the command's standard output and show it in a browser. Returns
 * SPANPROF_ERR_IO if writing or the browser failed, and
 * SPANPROF_ERR_UNSUPPORTED if there is no browser, and sets the error message.
 */
spanprof_status sp_html_file_finish(sp_html_file *file);

/* Close the file, if it is open, after a failure. */
void sp_html_file_abandon(sp_html_file *file);

/* Write the title of the page to `out`: that of --title, or one made from the
 * other arguments. */
void sp_html_title(const sp_report_arguments *arguments,
                   char out[SP_HTML_TITLE_BYTES]);

#endif
