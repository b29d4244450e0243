/* The records of threads, and the table they stand in: what thread_table.c and
 * thread_scan.c share. */
#ifndef SP_THREAD_RECORD_H
#define SP_THREAD_RECORD_H

#include <pthread.h>
#include <signal.h>

#include "thread_table.h"
#include "util/memory/hash_index.h"
#include "util/system/clock.h"

/* Records of the first chunk; each other has twice as many as the one before,
 * so that their addresses take little of what the handler has near. */
#define SP_THREAD_CHUNK      256
#define SP_THREAD_CHUNKS_MAX 11

/* A forked child may be about to become another program: it gives all signals
 * their default actions, and a real-time signal would end it before its exec().
 * For so long its timers send a signal that is then ignored. */
#define SP_THREAD_YOUNG_NS     (10 * SP_NS_PER_S)
#define SP_THREAD_YOUNG_SIGNAL SIGURG

typedef struct sp_thread_table {
  /* Read in the handler. */
  _Atomic(sp_thread *) chunks[SP_THREAD_CHUNKS_MAX];
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint32_t record_count; /* ever used, with index 0, which never is */
  uint32_t free_list;
  sp_index by_tid; /* of records, the thread's number as hash */
  sp_timer_base base;
  int session_signal;      /* chosen at the start */
  int signal_number;       /* that timers send now; 0: none may be set */
  uint64_t young_until_ns; /* see SP_THREAD_YOUNG_NS; 0: grown */
  bool sampling;
  bool paused;          /* it samples, and no thread has a timer */
  bool registered_only; /* what did not register is left alone */
  bool unlinked;        /* records were made for threads that may have a self */
  uint32_t timer_count;
  uint32_t excluded_count;
  uint32_t timers_max;
  uint32_t pass;
  uint32_t next_clock; /* where the rotating look at CPU clocks is */
  uint32_t next_mask;  /* where that at signal masks is */
  uint64_t random;
  uint64_t stacks_due_ns; /* the collector's: when stacks may be looked up */
  /* Start of the sampling, on the clock of sp_thread_began(); 0: sampling has
   * run since the process was forked. */
  uint64_t began_ticks;
  bool beginning; /* threads being enrolled existed before the sampling */
} sp_thread_table;

extern sp_thread_table sp_threads;

/* All with the lock held. */

/* The record of a thread, or NULL. */
sp_thread *sp_thread_find(int tid);

/* The same, made where there is none; NULL: no memory. */
sp_thread *sp_thread_record(int tid, bool *fresh);

/* As of a thread that was just found. */
void sp_thread_clear(sp_thread *thread, int tid);
void sp_thread_release(sp_thread *thread);

/* Have record and self know each other. */
void sp_thread_link(sp_thread *thread, sp_self *self);

spanprof_status sp_thread_enrol_locked(int tid, sp_self *self);

/* Find the selves of the threads that were enrolled without. */
void sp_threads_link(void);

void sp_thread_remove(sp_thread *thread);

#endif
