/* sample_type_config of /ingest: how a client names its types of samples. */
#ifndef SP_SAMPLE_CONFIG_H
#define SP_SAMPLE_CONFIG_H

#include "server/receive/profile/raw_profile.h"

typedef struct sp_sample_config sp_sample_config;

/* Parse the JSON object. Refuses as broken. */
spanprof_status sp_sample_config_read(sp_sample_config **out, const sp_mem *mem,
                                      sp_view text, sp_refusal *refusal);
void sp_sample_config_free(sp_sample_config *config); /* NULL is fine */

/* Whether it has the type, of any settings. */
bool sp_sample_config_has(const sp_sample_config *config, const char *type);

/* The __name__ of a profile by its types: "process_cpu" where one is called
 * cpu, or samples. `config` NULL: Pyroscope's own. The text lives as long as
 * the profile's and the config. */
sp_view sp_sample_config_metric(const sp_sample_config *config,
                                const sp_raw_profile *profile);

#endif
