/* Who a target wants to be asked by, and by what it is trusted, as a job has
 * it: basic_auth, authorization, tls_config of Prometheus. */
#ifndef SP_SCRAPE_ACCESS_H
#define SP_SCRAPE_ACCESS_H

#include <jansson.h>

#include "scrape_plan.h"

/* Read what the job has of them. Files of secrets are read now, others named.
 * SPANPROF_ERR_ARGUMENT, SPANPROF_ERR_IO, in a sentence that shows no secret.
 */
spanprof_status sp_scrape_access_read(sp_scrape_plan *plan,
                                      sp_scrape_access *access, const char *job,
                                      const json_t *given);

/* Refuse the first member of an object that is none of `known`, NULL behind
 * them; and a value that is no object. */
spanprof_status sp_scrape_known(const char *job, const char *where,
                                const json_t *object, const char *const *known);

/* A text of the object, the plan's; NULL where it has none. */
spanprof_status sp_scrape_text(sp_scrape_plan *plan, const char *job,
                               const json_t *object, const char *name,
                               const char **out);

#endif
