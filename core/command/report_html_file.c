#include "report_html_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page/browser.h"
#include "util/system/status.h"
#include "util/text/utf8.h"

#define HTML_ENDING ".html"

/* mkstemps() makes the file readable by its owner only. */
static spanprof_status html_file_temporary(sp_html_file *file) {
  const char *directory = getenv("TMPDIR");
  int descriptor;

  if (!directory || *directory != '/')
    directory = "/tmp";
  if (snprintf(file->path, sizeof file->path, "%s/spanprof-XXXXXX" HTML_ENDING,
               directory) >= (int)sizeof file->path)
    return sp_fail(SPANPROF_ERR_IO, "TMPDIR is too long");
  descriptor = mkstemps(file->path, (int)strlen(HTML_ENDING));
  if (descriptor < 0)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "cannot write to %.200s",
                         directory);
  file->out = fdopen(descriptor, "w");
  if (file->out)
    return SPANPROF_OK;
  close(descriptor);
  return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
}

spanprof_status sp_html_file_create(sp_html_file *file,
                                    const sp_report_arguments *arguments) {
  const char *path = arguments->html;

  *file = (sp_html_file){.arguments = arguments};
  if (!path)
    return html_file_temporary(file);
  if (strcmp(path, "-") == 0) {
    file->out = arguments->io->out;
    return SPANPROF_OK;
  }
  if (strlen(path) >= sizeof file->path)
    return sp_fail(SPANPROF_ERR_IO, "the file name is too long");
  strcpy(file->path, path);
  file->out = fopen(path, "we");
  if (file->out)
    return SPANPROF_OK;
  return sp_fail_errno(SPANPROF_ERR_IO, errno, "cannot write %.200s", path);
}

void sp_html_file_abandon(sp_html_file *file) {
  if (*file->path && file->out)
    fclose(file->out);
  file->out = NULL;
}

spanprof_status sp_html_file_finish(sp_html_file *file) {
  FILE *out = file->out;
  char *whole;
  char why[200];
  bool failed;
  int error;
  spanprof_status st;

  file->out = NULL;
  if (!*file->path)
    return SPANPROF_OK; /* command_end() checks writes to standard output */
  errno = 0;
  failed = fflush(out) != 0 || ferror(out);
  error = errno ? errno : EIO; /* EIO if an earlier write failed, whose errno is
                                * no longer known */
  if (fclose(out) != 0 && !failed) {
    failed = true;
    error = errno;
  }
  if (failed)
    return sp_fail_errno(SPANPROF_ERR_IO, error, "cannot write %.200s",
                         file->path);
  if (!file->arguments->open)
    return SPANPROF_OK;
  whole = realpath(file->path, NULL);
  fprintf(file->arguments->io->out, "%s\n", whole ? whole : file->path);
  fflush(file->arguments->io->out);
  st = sp_browser_open(whole ? whole : file->path);
  if (st) {
    snprintf(why, sizeof why, "%s", spanprof_last_error());
    st = sp_fail(st, "%.200s was written, but %s", whole ? whole : file->path,
                 why);
  }
  free(whole);
  return st;
}

/* Copy the last part of a path. */
static void html_title_path(const char *path, char out[SP_HTML_TITLE_BYTES]) {
  size_t bytes = strlen(path), begin;

  if (strcmp(path, "-") == 0) {
    strcpy(out, "standard input");
    return;
  }
  while (bytes > 1 && path[bytes - 1] == '/')
    bytes--;
  for (begin = bytes; begin > 0 && path[begin - 1] != '/'; begin--)
    ;
  snprintf(out, SP_HTML_TITLE_BYTES, "%.*s",
           (int)sp_min_u64(bytes - begin, 150), path + begin);
}

/* Returns the title if the arguments name neither a file nor a query. */
static const char *html_title_all(const sp_report_arguments *arguments) {
  return arguments->from_server ? "all applications" : "spanprof";
}

/* Copy `source`: a query unchanged, and only the last part of a path. */
static void html_title_source(const sp_report_arguments *arguments,
                              const char *source,
                              char out[SP_HTML_TITLE_BYTES]) {
  if (arguments->from_server)
    snprintf(out, SP_HTML_TITLE_BYTES, "%.150s", source);
  else
    html_title_path(source, out);
}

void sp_html_title(const sp_report_arguments *arguments,
                   char out[SP_HTML_TITLE_BYTES]) {
  const sp_report_filter *filter = &arguments->options.filter;
  const char *first =
      arguments->from_server ? arguments->server.query : arguments->first;
  char part[SP_HTML_TITLE_BYTES], whole[2 * SP_HTML_TITLE_BYTES];
  size_t at;
  bool changed;

  if (arguments->title) {
    at = (size_t)snprintf(whole, sizeof whole, "%s", arguments->title);
  } else {
    html_title_source(arguments, first ? first : html_title_all(arguments),
                      part);
    at = (size_t)snprintf(whole, sizeof whole, "%.150s",
                          arguments->profiles.application
                              ? arguments->profiles.application
                              : part);
    if (filter->span_name)
      at += (size_t)snprintf(whole + at, sizeof whole - at, ", %.150s",
                             filter->span_name);
    if (filter->by_span)
      at += (size_t)snprintf(whole + at, sizeof whole - at,
                             ", span %016" PRIx64, filter->span);
    if (arguments->operands > 1)
      at += (size_t)snprintf(whole + at, sizeof whole - at, " and %zu more",
                             arguments->operands - 1);
    if (arguments->first_base) {
      html_title_source(arguments, arguments->first_base, part);
      at += (size_t)snprintf(whole + at, sizeof whole - at,
                             " compared with %.150s", part);
    } else if (arguments->base_timed) {
      at += (size_t)snprintf(whole + at, sizeof whole - at,
                             " compared with another time");
    }
  }
  at = (size_t)sp_min_u64(at, sizeof whole - 1);
  at = sp_utf8_clean(whole, at, out, SP_HTML_TITLE_BYTES - 1, &changed);
  out[at] = '\0';
}
