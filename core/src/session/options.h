/* Reads the settings of a session (sp_settings) from the options of a call and
 * from the environment. Every value is checked. An error is one sentence with
 * the name of the option. */
#ifndef SP_OPTIONS_H
#define SP_OPTIONS_H

#include "settings/settings.h"
#include "util/system/log.h"

/* Read the settings. If `options` is NULL, only the environment applies.
 * `environment` has the form of environ(7); tests pass their own. Appends lines
 * for the log to `notes` (unknown PYROSCOPE_* variables, cleaned labels). If
 * the function fails, `out` need not be disposed of. */
struct sp_buffer;
spanprof_status sp_settings_read(sp_settings *out, const sp_mem *mem,
                                 const spanprof_options *options,
                                 char *const *environment,
                                 struct sp_buffer *notes);
void sp_settings_dispose(sp_settings *settings);

/* Is PYROSCOPE_AGENT_ENABLED false, 0, no or off? */
bool sp_settings_disabled(char *const *environment);

/* Returns SPANPROF_ERR_DISABLED and sets the last error if
 * sp_settings_disabled(). */
spanprof_status sp_settings_check_enabled(char *const *environment);

#endif
