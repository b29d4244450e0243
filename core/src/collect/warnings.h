/* Warnings of the collector: lost samples, refused labels and spans, and a
 * signal handler that has replaced spanprof's handler. */
#ifndef SP_WARNINGS_H
#define SP_WARNINGS_H

#include "profile/profile.h"
#include "util/system/log.h"

/* The counts that were already reported. All fields are 0 at first. */
typedef struct sp_warnings {
  uint64_t dropped_seen;
  uint64_t labels_refused_seen;
  uint64_t spans_refused_seen;
  bool signal_lost;
} sp_warnings;

/* Log a warning for each counter that has grown, and for a replaced signal
 * handler. Called once a second. */
void sp_warnings_log(sp_warnings *warnings, sp_log *log, int signal_number);

/* Log the limits that the window's profile reached. */
void sp_warnings_log_window(const sp_profile *profile, sp_log *log);

#endif
