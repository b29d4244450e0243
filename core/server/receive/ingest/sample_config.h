/* The field sample_type_config of /ingest, in which a client names its sample
 * types. */
#ifndef SP_SAMPLE_CONFIG_H
#define SP_SAMPLE_CONFIG_H

#include "server/receive/profile/raw_profile.h"

typedef struct sp_sample_config sp_sample_config;

/* Parse the JSON object. Refuses malformed JSON with SP_REFUSAL_BROKEN. */
spanprof_status sp_sample_config_read(sp_sample_config **out, const sp_mem *mem,
                                      sp_view text, sp_refusal *refusal);
void sp_sample_config_free(sp_sample_config *config); /* accepts NULL */

/* Returns whether the type occurs in the configuration. */
bool sp_sample_config_has(const sp_sample_config *config, const char *type);

/* Returns the label __name__ of a profile, derived from its types:
 * "process_cpu" if a type is called cpu or samples. If `config` is NULL,
 * Pyroscope's default configuration is used. The text lives as long as the
 * profile and the configuration. */
sp_view sp_sample_config_metric(const sp_sample_config *config,
                                const sp_raw_profile *profile);

#endif
