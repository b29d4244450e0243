/* The settings of one job, which are the same for all its targets. */
#ifndef SP_SCRAPE_JOB_H
#define SP_SCRAPE_JOB_H

#include "scrape_plan.h"
#include "server/model/yaml_file.h"

#define SP_SCRAPE_JOB_PATH_MAX 2048

typedef struct sp_scrape_job {
  sp_scrape_plan *plan;
  const sp_yaml *given;
  const char *name;
  const char *scheme;
  const char *before; /* path_prefix or "", which precedes paths in
                       * pprof_config */
  const char *prefix; /* path_prefix and metrics_path, which together precede
                       * the default paths */
  const char *query;  /* query string from `params`: "a=b&c=d", or "" */
  const sp_yaml *profiles; /* the key pprof_config, or NULL */
  sp_scrape_target target; /* the part that all targets have in common */
} sp_scrape_job;

/* Add the profiles of each target in static_configs. */
spanprof_status sp_scrape_job_targets(sp_scrape_job *job);

#endif
