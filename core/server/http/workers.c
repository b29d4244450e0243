#include "workers.h"

#include <string.h>

#include "util/system/own_thread.h"
#include "util/system/status.h"

/* Wait for the next job. `finished` is true if the calling thread has just run
 * a job. Returns NULL if the pool stops. */
static sp_work *workers_next(sp_workers *workers, bool finished) {
  sp_work *work;

  pthread_mutex_lock(&workers->lock);
  workers->jobs -= finished;
  while (!workers->first && !workers->ending)
    pthread_cond_wait(&workers->more, &workers->lock);
  work = workers->first;
  if (work) {
    workers->first = work->next;
    if (!work->next)
      workers->last = NULL;
  }
  pthread_mutex_unlock(&workers->lock);
  return work;
}

static void *workers_run(void *argument) {
  sp_work *work = workers_next(argument, false);

  while (work) {
    work->run(work);
    work = workers_next(argument, true);
  }
  return NULL;
}

spanprof_status sp_workers_start(sp_workers *workers, const char *name,
                                 size_t count, size_t waiting_max) {
  int error = 0;

  memset(workers, 0, sizeof *workers);
  workers->jobs_max = count + waiting_max;
  pthread_mutex_init(&workers->lock, NULL);
  pthread_cond_init(&workers->more, NULL);
  while (!error && workers->thread_count < count) {
    error = sp_own_thread_start(&workers->threads[workers->thread_count], name,
                                SP_OWN_STACK_SMALL, workers_run, workers);
    workers->thread_count += !error;
  }
  if (!error)
    return SPANPROF_OK;
  sp_workers_halt(workers, NULL);
  sp_workers_join(workers);
  return sp_fail_errno(SPANPROF_ERR_SYSTEM, error, "cannot start a thread");
}

bool sp_workers_add(sp_workers *workers, sp_work *work) {
  bool given;

  work->next = NULL;
  pthread_mutex_lock(&workers->lock);
  given = !workers->ending && workers->jobs < workers->jobs_max;
  if (given && workers->last)
    workers->last->next = work;
  else if (given)
    workers->first = work;
  if (given) {
    workers->last = work;
    workers->jobs++;
  }
  pthread_cond_signal(&workers->more);
  pthread_mutex_unlock(&workers->lock);
  return given;
}

void sp_workers_halt(sp_workers *workers, void (*refuse)(sp_work *work)) {
  sp_work *waiting;

  pthread_mutex_lock(&workers->lock);
  workers->ending = true;
  waiting = workers->first;
  workers->first = workers->last = NULL;
  pthread_cond_broadcast(&workers->more);
  pthread_mutex_unlock(&workers->lock);
  while (waiting) {
    sp_work *work = waiting;

    waiting = work->next;
    refuse(work);
  }
}

void sp_workers_join(sp_workers *workers) {
  size_t i;

  for (i = 0; i < workers->thread_count; i++)
    pthread_join(workers->threads[i], NULL);
  workers->thread_count = 0;
}
