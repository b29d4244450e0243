/* The log. Lines go to the user's callback or to stderr, one at a time. Of each
 * kind of warning, at most one line per minute is logged. */
#ifndef SP_LOG_H
#define SP_LOG_H

#include <pthread.h>

#include "clock.h"

/* Kinds of warnings that may repeat. Each kind has its own limit of one line
 * per minute. */
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
  /* These fields do not change after sp_log_init(). */
  spanprof_log_fn write;
  void *write_data;
  spanprof_log_level level;
  const sp_clock *clock;
  /* Guards the fields below. */
  pthread_mutex_t lock;
  uint64_t logged_ns[SP_LOG_KIND_COUNT]; /* time of the last line; 0: never */
  uint64_t suppressed[SP_LOG_KIND_COUNT];
} sp_log;

/* If `write` is NULL, lines go to stderr and begin with "spanprof: ". */
void sp_log_init(sp_log *log, spanprof_log_fn write, void *data,
                 spanprof_log_level level, const sp_clock *clock);

/* Make the lock usable in a forked child. */
void sp_log_after_fork(sp_log *log);

void sp_log_line(sp_log *log, spanprof_log_level level, const char *format, ...)
    SP_PRINTF(3, 4);

/* Log a warning. At most one per minute and kind is logged; the next line
 * contains the number of suppressed ones. */
void sp_log_warn(sp_log *log, sp_log_kind kind, const char *format, ...)
    SP_PRINTF(3, 4);

#endif
