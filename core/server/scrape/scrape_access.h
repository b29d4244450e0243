/* Credentials and trusted certificates of a job, from the keys that Prometheus
 * has for them: basic_auth, authorization, bearer_token, tls_config. */
#ifndef SP_SCRAPE_ACCESS_H
#define SP_SCRAPE_ACCESS_H

#include "scrape_plan.h"
#include "server/model/yaml_file.h"

#define SP_SCRAPE_SECRET_BYTES 4097 /* bytes of a secret with the NUL */

/* Read a secret from the first line of a file. If the file cannot be read,
 * returns SPANPROF_ERR_IO and sets the error text. */
spanprof_status sp_scrape_secret(const char *path,
                                 char out[SP_SCRAPE_SECRET_BYTES]);

/* Read these settings of a job. Reads files with secrets, and stores their
 * names, because each request reads the files again. Returns
 * SPANPROF_ERR_ARGUMENT for an invalid setting and SPANPROF_ERR_IO for an
 * unreadable file. The error text contains no secret. */
spanprof_status sp_scrape_access_read(sp_scrape_plan *plan,
                                      sp_scrape_access *access,
                                      const sp_yaml *job);

/* Copy the text that the map has for `name` to the plan. *out is NULL if the
 * map does not have this key. */
spanprof_status sp_scrape_text(sp_scrape_plan *plan, const sp_yaml *map,
                               const char *name, const char **out);

#endif
