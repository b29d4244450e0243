/* From what the user gave, by call and by environment, to sp_settings: every
 * value checked, each refusal one sentence that names the option. */
#ifndef SP_OPTIONS_H
#define SP_OPTIONS_H

#include "settings/settings.h"
#include "util/system/log.h"

/* `options` NULL: the environment alone. `environment` is as environ(7); tests
 * pass their own. Notes for the log (unknown PYROSCOPE_* variables, cleaned
 * labels) are written to `notes` as lines. On failure `out` needs no dispose.
 */
struct sp_buffer;
spanprof_status sp_settings_read(sp_settings *out, const sp_mem *mem,
                                 const spanprof_options *options,
                                 char *const *environment,
                                 struct sp_buffer *notes);
void sp_settings_dispose(sp_settings *settings);

/* PYROSCOPE_AGENT_ENABLED is false, 0, no or off. */
bool sp_settings_disabled(char *const *environment);

/* SPANPROF_ERR_DISABLED where it is, in a sentence. */
spanprof_status sp_settings_check_enabled(char *const *environment);

#endif
