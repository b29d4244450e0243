/* Credentials and trusted certificates of a job, with the keys of Prometheus:
 * basic_auth, authorization, bearer_token, tls_config. */
#ifndef SP_SCRAPE_ACCESS_H
#define SP_SCRAPE_ACCESS_H

#include "scrape_plan.h"
#include "server/model/yaml_file.h"

#define SP_SCRAPE_SECRET_BYTES 4097 /* including the NUL */

/* Read the first line of a file. SPANPROF_ERR_IO with a message. */
spanprof_status sp_scrape_secret(const char *path,
                                 char out[SP_SCRAPE_SECRET_BYTES]);

/* Read these settings of a job. Also reads the files with secrets, and stores
 * their names, because each request reads them again. SPANPROF_ERR_ARGUMENT,
 * SPANPROF_ERR_IO, with a message that contains no secret. */
spanprof_status sp_scrape_access_read(sp_scrape_plan *plan,
                                      sp_scrape_access *access,
                                      const sp_yaml *job);

/* Copy a text of the map to the plan; *out is NULL if there is none. */
spanprof_status sp_scrape_text(sp_scrape_plan *plan, const sp_yaml *map,
                               const char *name, const char **out);

#endif
