/* What the collector warns of: samples that were lost, labels and spans that
 * were refused, a handler that was installed over ours. */
#ifndef SP_WARNINGS_H
#define SP_WARNINGS_H

#include "profile/profile.h"
#include "util/system/log.h"

/* What was warned of so far; all zero at first. */
typedef struct sp_warnings {
  uint64_t dropped_seen;
  uint64_t labels_refused_seen;
  uint64_t spans_refused_seen;
  bool signal_lost;
} sp_warnings;

/* Warn of what is new, once a second. */
void sp_warnings_log(sp_warnings *warnings, sp_log *log, int signal_number);

/* What of a window a reader of its profile could wonder about. */
void sp_warnings_log_window(const sp_profile *profile, sp_log *log);

#endif
