/* Threads that do calls one after another, in the order they came.
 *
 * Who: any thread hands in; the workers take. A call that was handed in is run
 * once, or refused where it still waits when the pool ends. */
#ifndef SP_WORKERS_H
#define SP_WORKERS_H

#include <pthread.h>

#include "util/memory/mem.h"

/* What is handed in: the first member of the caller's own structure. */
typedef struct sp_work {
  struct sp_work *next;
  void (*run)(struct sp_work *work);
} sp_work;

#define SP_WORKERS_MAX 32

typedef struct sp_workers {
  /* Fixed after sp_workers_start(). */
  pthread_t threads[SP_WORKERS_MAX];
  size_t thread_count;
  size_t jobs_max;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t more;
  sp_work *first;
  sp_work *last;
  size_t jobs; /* waiting or running */
  bool ending;
} sp_workers;

/* `count`: at most SP_WORKERS_MAX. SPANPROF_ERR_SYSTEM: nothing is left. */
spanprof_status sp_workers_start(sp_workers *workers, const char *name,
                                 size_t count, size_t waiting_max);

/* False: too many jobs wait, or the pool has ended, at any time before. */
bool sp_workers_give(sp_workers *workers, sp_work *work);

/* Begin nothing more, and hand what waits to `refuse`. */
void sp_workers_halt(sp_workers *workers, void (*refuse)(sp_work *work));

/* Wait for what is being done. The lock stays, for whoever comes late. */
void sp_workers_end(sp_workers *workers);

#endif
