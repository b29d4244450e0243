/* What the log says of a session at its start. */
#ifndef SP_START_LOG_H
#define SP_START_LOG_H

#include "settings/settings.h"
#include "util/system/log.h"

/* One line for each of `notes`, which end with a newline each; they are cut up.
 */
void sp_start_log_notes(sp_log *log, char *notes);

/* What is profiled and where it goes, with a warning if that is nowhere. */
void sp_start_log_line(const sp_settings *settings, int signal_number,
                       sp_log *log, const sp_mem *mem);

#endif
