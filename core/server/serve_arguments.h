/* The command line of `spanprof-server`. */
#ifndef SP_SERVE_ARGUMENTS_H
#define SP_SERVE_ARGUMENTS_H

#include <stdio.h>

#include "server/model/serve.h"

/* Largest number of --scrape options. A file of jobs may have more targets. */
#define SP_SERVE_SCRAPES_MAX 64

/* Largest number of --metric options, and of rules in a file. */
#define SP_SERVE_METRICS_MAX 100

/* Largest number of --allow-host options. */
#define SP_SERVE_HOSTS_MAX 64

/* Largest number of --source options. */
#define SP_SERVE_SOURCES_MAX 16

typedef struct sp_serve_arguments {
  sp_serve_options options;
  char data[4096];
  char base_path[256];
  bool open; /* show the page in a browser */
  bool no_token;
  const char *hosts[SP_SERVE_HOSTS_MAX];
  const char *sources[SP_SERVE_SOURCES_MAX];
  const char *scrapes[SP_SERVE_SCRAPES_MAX];
  const char *metrics[SP_SERVE_METRICS_MAX];
} sp_serve_arguments;

/* Returns -1 if the server shall start. Otherwise returns the exit status,
 * after the messages were written to `out` or `err`. The texts of the options
 * point into argv and the environment. */
int sp_serve_arguments_read(sp_serve_arguments *arguments, int argc,
                            char **argv, FILE *out, FILE *err);

#endif
