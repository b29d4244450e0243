/* One line that says how far a long command is, on a terminal only. */
#ifndef SP_PROGRESS_H
#define SP_PROGRESS_H

#include <stdio.h>

#include "util/base.h"

typedef struct sp_progress {
  FILE *out; /* NULL: no terminal, nothing is said */
  uint64_t next_ns;
  bool shown;
} sp_progress;

/* The first line comes after half a second: short work needs none. */
void sp_progress_init(sp_progress *progress, FILE *out);

/* "12 of 340 files read", at most five times a second. */
void sp_progress_step(sp_progress *progress, size_t done, size_t all);

/* "12 of 340 files sent", likewise; at once, and with `why` behind it, where
 * that is not NULL: "the server answered 503, again in 3 s". */
void sp_progress_sent(sp_progress *progress, size_t done, size_t all,
                      const char *why);

/* Take the line away; before anything else is written to `out`. */
void sp_progress_clear(sp_progress *progress);

#endif
