/* Who a target wants to be asked by, and by what it is trusted, as a job has
 * it: basic_auth, authorization, bearer_token, tls_config of Prometheus. */
#ifndef SP_SCRAPE_ACCESS_H
#define SP_SCRAPE_ACCESS_H

#include "scrape_plan.h"
#include "server/model/yaml_file.h"

#define SP_SCRAPE_SECRET_BYTES 4097 /* with the NUL */

/* The first line of a file. SPANPROF_ERR_IO, in a sentence. */
spanprof_status sp_scrape_secret(const char *path,
                                 char out[SP_SCRAPE_SECRET_BYTES]);

/* Read the job's settings for these. Files of secrets are read, too, and their
 * names kept. SPANPROF_ERR_ARGUMENT, SPANPROF_ERR_IO, in a sentence that shows
 * no secret.
 */
spanprof_status sp_scrape_access_read(sp_scrape_plan *plan,
                                      sp_scrape_access *access,
                                      const sp_yaml *job);

/* A text of the map, the plan's; NULL where it has none. */
spanprof_status sp_scrape_text(sp_scrape_plan *plan, const sp_yaml *map,
                               const char *name, const char **out);

#endif
