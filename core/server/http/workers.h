/* A pool of threads that run jobs in the order of their arrival.
 *
 * Any thread may add a job. The pool runs each job once, or passes it to
 * `refuse` of sp_workers_halt() if the job still waits when the pool stops. */
#ifndef SP_WORKERS_H
#define SP_WORKERS_H

#include <pthread.h>

#include "util/memory/mem.h"

/* A job. It is the first member of a larger struct of the caller. */
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
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t more;
  sp_work *first;
  sp_work *last;
  size_t jobs; /* number of jobs that wait or run */
  bool ending;
} sp_workers;

/* Start `count` threads, at most SP_WORKERS_MAX. At most `waiting_max` jobs may
 * wait. If a thread cannot be started, stops the others and returns
 * SPANPROF_ERR_SYSTEM. */
spanprof_status sp_workers_start(sp_workers *workers, const char *name,
                                 size_t count, size_t waiting_max);

/* Add a job. Returns false if too many jobs wait or the pool has stopped. May
 * be called at any time after sp_workers_start(), even after sp_workers_join().
 */
bool sp_workers_add(sp_workers *workers, sp_work *work);

/* Start no more jobs, and pass all waiting jobs to `refuse`. */
void sp_workers_halt(sp_workers *workers, void (*refuse)(sp_work *work));

/* Wait for the running jobs, and join the threads. `lock` stays valid for
 * callers of sp_workers_add(). */
void sp_workers_join(sp_workers *workers);

#endif
