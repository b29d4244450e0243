/* The log: one line at a time to the user's callback or stderr, and a warning
 * of one kind at most once a minute. */
#ifndef SP_LOG_H
#define SP_LOG_H

#include <pthread.h>

#include "clock.h"

/* Kinds of warnings that may repeat; each has its own minute. */
typedef enum sp_log_kind {
  SP_LOG_UPLOAD_REFUSED,
  SP_LOG_UPLOAD_FAILED,
  SP_LOG_UPLOAD_LIMITED,
  SP_LOG_OUTPUT,
  SP_LOG_SPOOL,
  SP_LOG_QUEUE,
  SP_LOG_SAMPLES,
  SP_LOG_THREADS,
  SP_LOG_SIGNAL,
  SP_LOG_LABELS,
  SP_LOG_SPANS,
  SP_LOG_RUNTIME,
  SP_LOG_MEMORY,
  SP_LOG_KIND_COUNT
} sp_log_kind;

typedef struct sp_log {
  /* Fixed after sp_log_init(). */
  spanprof_log_fn write;
  void *write_data;
  spanprof_log_level level;
  const sp_clock *clock;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint64_t said_ns[SP_LOG_KIND_COUNT]; /* 0: never */
  uint64_t held_back[SP_LOG_KIND_COUNT];
} sp_log;

/* `write` NULL: stderr, each line with "spanprof: " before it. */
void sp_log_init(sp_log *log, spanprof_log_fn write, void *data,
                 spanprof_log_level level, const sp_clock *clock);

/* Make the lock usable in a forked child. */
void sp_log_after_fork(sp_log *log);

void sp_log_line(sp_log *log, spanprof_log_level level, const char *format, ...)
    SP_PRINTF(3, 4);

/* A warning; at most one a minute of each kind, the next one says how many
 * were held back. */
void sp_log_warn(sp_log *log, sp_log_kind kind, const char *format, ...)
    SP_PRINTF(3, 4);

#endif
