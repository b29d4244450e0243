/* What stands behind `spanprof-server`. */
#ifndef SP_SERVE_ARGUMENTS_H
#define SP_SERVE_ARGUMENTS_H

#include <stdio.h>

#include "server/model/serve.h"

/* Of --scrape; a file of jobs may have more. */
#define SP_SERVE_SCRAPES_MAX 64

/* Of --metric; a file of rules has as many. */
#define SP_SERVE_METRICS_MAX 100

/* Of --allow-host. */
#define SP_SERVE_HOSTS_MAX 64

typedef struct sp_serve_arguments {
  sp_serve_options options;
  char data[4096];
  bool open; /* the page, in a browser */
  bool no_token;
  const char *hosts[SP_SERVE_HOSTS_MAX];
  const char *scrapes[SP_SERVE_SCRAPES_MAX];
  const char *metrics[SP_SERVE_METRICS_MAX];
} sp_serve_arguments;

/* -1: go on; else the status to end with, everything is said. Texts of the
 * options are those of argv and the environment. */
int sp_serve_arguments_read(sp_serve_arguments *arguments, int argc,
                            char **argv, FILE *out, FILE *err);

#endif
