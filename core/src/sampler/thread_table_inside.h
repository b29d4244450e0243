/* What thread_table.c and thread_scan.c share. */
#ifndef SP_THREAD_TABLE_INSIDE_H
#define SP_THREAD_TABLE_INSIDE_H

#include <pthread.h>

#include "thread_table.h"
#include "tid_map.h"

/* Records of the first chunk; each other has twice as many as the one before,
 * so that their addresses take little of what the handler has near. */
#define SP_THREAD_CHUNK      256
#define SP_THREAD_CHUNKS_MAX 11

typedef struct sp_thread_table {
  /* Read in the handler. */
  _Atomic(sp_thread *) chunks[SP_THREAD_CHUNKS_MAX];
  /* Guarded by lock. */
  pthread_mutex_t lock;
  uint32_t record_count; /* ever used, with index 0, which never is */
  uint32_t free_list;
  sp_tid_map by_tid;
  sp_timer_base base;
  int signal_number;
  bool sampling;
  uint32_t timer_count;
  uint32_t timers_max;
  uint32_t pass;
  uint32_t next_look; /* where the rotating look for blocked threads is */
  uint64_t random;
} sp_thread_table;

extern sp_thread_table sp_threads;

/* All with the lock held. */
spanprof_status sp_thread_enrol_locked(int tid, sp_self *self);
void sp_thread_disarm(sp_thread *thread);
void sp_thread_remove(sp_thread *thread);

#endif
