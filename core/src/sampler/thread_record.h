/* The records of threads and their table: the internals that thread_table.c,
 * thread_arming.c and thread_scan.c share. */
#ifndef SP_THREAD_RECORD_H
#define SP_THREAD_RECORD_H

#include <pthread.h>
#include <signal.h>

#include "thread_table.h"
#include "util/memory/hash_index.h"
#include "util/system/clock.h"

/* Number of records in the first chunk. Each further chunk has twice as many as
 * the one before, so the array of chunk addresses is small and occupies few of
 * the handler's cache lines. */
#define SP_THREAD_CHUNK      256
#define SP_THREAD_CHUNKS_MAX 11

/* A forked child is "young" for this time, because it may be about to execute
 * another program. Before that it may reset all signals to their default
 * actions, and then a real-time signal would end the process. So the timers of
 * a young child send a signal whose default action is to be ignored. */
#define SP_THREAD_YOUNG_NS     (10 * SP_NS_PER_S)
#define SP_THREAD_YOUNG_SIGNAL SIGURG

typedef struct sp_thread_table {
  /* The handler reads this field. */
  _Atomic(sp_thread *) chunks[SP_THREAD_CHUNKS_MAX];
  /* Guards the fields below. */
  pthread_mutex_t lock;
  /* Number of records ever used, including the unused index 0. */
  uint32_t record_count;
  uint32_t free_list;
  sp_index by_tid; /* records by thread id */
  sp_timer_base base;
  int session_signal; /* signal that was chosen when sampling started */
  /* Signal that timers send now; 0: no timer may be set. */
  int signal_number;
  /* End of SP_THREAD_YOUNG_NS; 0: the process is not young. */
  uint64_t young_until_ns;
  bool sampling;
  bool paused;          /* sampling is on, but no thread has a timer */
  bool registered_only; /* only threads that register are sampled */
  bool unlinked; /* some attached threads may have a record without `self` */
  uint32_t timer_count;
  uint32_t excluded_count;
  uint32_t timers_max;
  uint32_t pass;
  uint32_t next_clock; /* next record of the rotating check of CPU clocks */
  uint32_t next_mask;  /* next record of the rotating check of signal masks */
  uint64_t random;
  /* Used by the collector: time of the next lookup of stacks. */
  uint64_t stacks_due_ns;
  /* Time at which sampling started, on the clock of sp_thread_began(). 0: this
   * process was forked while its parent was sampled. */
  uint64_t began_ticks;
  /* True while a start or a resume enrols the threads that already exist. */
  bool beginning;
} sp_thread_table;

extern sp_thread_table sp_threads;

/* The caller of all functions below holds `sp_threads.lock`. */

/* The record of a thread, or NULL. */
sp_thread *sp_thread_find(int tid);

/* Find the record of a thread, or make it if there is none; *fresh is set if it
 * was made. Returns NULL if there is no memory. */
sp_thread *sp_thread_record(int tid, bool *fresh);

/* Reset a record to the state of a newly found thread. */
void sp_thread_clear(sp_thread *thread, int tid);
void sp_thread_release(sp_thread *thread);

/* Store pointers to each other in `thread` and `self`. */
void sp_thread_link(sp_thread *thread, sp_self *self);

spanprof_status sp_thread_enrol_locked(int tid, sp_self *self);

/* Link the records that have no `self` with the sp_self of their attached
 * thread. */
void sp_threads_link(void);

void sp_thread_remove(sp_thread *thread);

#endif
