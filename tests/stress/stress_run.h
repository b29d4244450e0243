/* One session under stress: its options, its log, its profiles, and a check
 * that every sample is accounted for at the end. */
#ifndef STRESS_RUN_H
#define STRESS_RUN_H

#include "stress.h"
#include "tally.h"

#define STRESS_LOG_BYTES (64 * 1024)

typedef struct stress_run {
  spanprof_options options; /* may be changed before the start */
  spanprof_session *session;
  tally sum;
  spanprof_stats stats; /* counters after the stop */
  uint64_t stop_ns;     /* duration of the stop */
  /* Guarded by `log_lock`. */
  pthread_mutex_t log_lock;
  char log[STRESS_LOG_BYTES];
  size_t log_bytes;
} stress_run;

/* Set options for a session with the application name `name` and an upload
 * interval of 200 ms. `run->sum` adds up its profiles. */
void stress_run_init(stress_run *run, const char *name);

/* Start the session and reset the counters. Ends the program if the session
 * cannot start. */
void stress_run_start(stress_run *run);

/* Stop the session. Then check that all samples that were taken were exported
 * or dropped, that none is pending, that the exported samples have arrived in
 * `run->sum`, and that no timer is left. */
void stress_run_stop(stress_run *run, uint32_t timeout_ms);

void stress_run_dispose(stress_run *run);

/* Has the session logged a line that contains `text`? */
bool stress_run_logged(stress_run *run, const char *text);

/* Returns the current counters of the library. */
spanprof_stats stress_stats(void);

/* Returns the number of samples that were dropped for any reason. */
uint64_t stress_stats_dropped(const spanprof_stats *stats);

/* Print one line at the end of a program. */
void stress_run_print(const stress_run *run);

#endif
