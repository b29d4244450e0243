/* One line that shows the progress of a long command, on a terminal only. */
#ifndef SP_PROGRESS_H
#define SP_PROGRESS_H

#include <stdio.h>

#include "util/base.h"

typedef struct sp_progress {
  FILE *out; /* NULL: not a terminal, so nothing is shown */
  uint64_t next_ns;
  bool shown;
} sp_progress;

/* The line appears after half a second, so that short work shows none. */
void sp_progress_init(sp_progress *progress, FILE *out);

/* Show "12 of 340 files read", at most five times a second. */
void sp_progress_step(sp_progress *progress, size_t done, size_t all);

/* Show "12 of 340 files sent", at most five times a second. If `why` is not
 * NULL, immediately show "12 of 340 files sent; WHY". */
void sp_progress_sent(sp_progress *progress, size_t done, size_t all,
                      const char *why);

/* Erase the line. Call this before other output to `out`. */
void sp_progress_clear(sp_progress *progress);

#endif
