/* One session under stress: its options, what it logged, what it delivered, and
 * whether every sample is accounted for at its end. */
#ifndef STRESS_RUN_H
#define STRESS_RUN_H

#include "stress.h"
#include "tally.h"

#define STRESS_LOG_BYTES (64 * 1024)

typedef struct stress_run {
  spanprof_options options; /* may be changed before the start */
  spanprof_session *session;
  tally sum;
  spanprof_stats stats; /* after the stop */
  uint64_t stop_ns;     /* how long the stop took */
  /* Guarded by log_lock. */
  pthread_mutex_t log_lock;
  char log[STRESS_LOG_BYTES];
  size_t log_bytes;
} stress_run;

/* Options for a session called `name` with windows of 200 ms, whose profiles
 * the run's tally gets. */
void stress_run_init(stress_run *run, const char *name);

/* Start; fails the program where it cannot. Counts from zero. */
void stress_run_start(stress_run *run);

/* Stop, then check the accounts: samples taken are exported or dropped, nothing
 * is pending, what was exported arrived, and no timer is left. */
void stress_run_stop(stress_run *run, uint32_t timeout_ms);

void stress_run_dispose(stress_run *run);

/* Did the session log this? */
bool stress_run_logged(stress_run *run, const char *text);

/* The counters now. */
spanprof_stats stress_stats(void);

/* Sum of samples dropped, for whatever reason. */
uint64_t stress_stats_dropped(const spanprof_stats *stats);

/* One line at the end of a program. */
void stress_run_tell(const stress_run *run);

#endif
