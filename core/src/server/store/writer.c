#include "writer.h"

#include <stdio.h>
#include <string.h>

#include "../../util/own_thread.h"
#include "../../util/status.h"

/* Of one transaction: its log is at most some MiB, and nobody waits long. */
#define WRITER_JOBS_MAX 64

#define WRITER_SENTENCE_BYTES 512

typedef struct sp_writer_job {
  struct sp_writer_job *next;
  sp_writer_fn fn;
  void *data;
  spanprof_status st;
  bool done;
  char sentence[WRITER_SENTENCE_BYTES];
} sp_writer_job;

static void writer_job_fail(sp_writer_job *job, spanprof_status st) {
  job->st = st;
  if (st)
    snprintf(job->sentence, sizeof job->sentence, "%s", spanprof_last_error());
}

static spanprof_status writer_run_job(sp_writer *writer, sp_writer_job *job) {
  spanprof_status st = sp_database_run(writer->db, "SAVEPOINT job");

  if (st)
    return st;
  writer_job_fail(job, job->fn(writer, job->data));
  if (sqlite3_get_autocommit(writer->db)) /* SQLite gave the whole up */
    return job->st ? job->st : SPANPROF_ERR_IO;
  if (job->st) {
    sp_intern_forget(&writer->intern);
    st = sp_database_run(writer->db, "ROLLBACK TO job");
    if (st)
      return st;
  }
  return sp_database_run(writer->db, "RELEASE job");
}

/* One transaction for all jobs of the list. */
static void writer_transaction(sp_writer *writer, sp_writer_job *jobs) {
  sp_writer_job *job;
  spanprof_status st = sp_database_run(writer->db, "BEGIN IMMEDIATE");

  for (job = jobs; job && !st; job = job->next)
    st = writer_run_job(writer, job);
  if (!st)
    st = sp_database_run(writer->db, "COMMIT");
  if (!st)
    return;
  for (job = jobs; job; job = job->next)
    writer_job_fail(job, st);
  sp_intern_forget(&writer->intern);
  if (!sqlite3_get_autocommit(writer->db))
    sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
}

/* With the lock held: the jobs of the next transaction. */
static sp_writer_job *writer_take(sp_writer *writer) {
  sp_writer_job *first = writer->first, *job = first;
  size_t count;

  for (count = 1; job && job->next && count < WRITER_JOBS_MAX; count++)
    job = job->next;
  writer->first = job ? job->next : NULL;
  if (!writer->first)
    writer->last = NULL;
  if (job)
    job->next = NULL;
  return first;
}

static void *writer_run(void *argument) {
  sp_writer *writer = argument;
  sp_writer_job *jobs, *next;

  pthread_mutex_lock(&writer->lock);
  for (;;) {
    while (!writer->first && !writer->ending)
      pthread_cond_wait(&writer->more, &writer->lock);
    jobs = writer_take(writer);
    if (!jobs)
      break;
    pthread_mutex_unlock(&writer->lock);
    writer_transaction(writer, jobs);
    pthread_mutex_lock(&writer->lock);
    for (; jobs; jobs = next) { /* one that is done is its caller's again */
      next = jobs->next;
      jobs->done = true;
    }
    pthread_cond_broadcast(&writer->done);
  }
  pthread_mutex_unlock(&writer->lock);
  return NULL;
}

spanprof_status sp_writer_start(sp_writer *writer, const sp_mem *mem,
                                sqlite3 *db) {
  int error;

  memset(writer, 0, sizeof *writer);
  writer->mem = mem;
  writer->db = db;
  sp_intern_init(&writer->intern, mem, db);
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->more, NULL);
  pthread_cond_init(&writer->done, NULL);
  error = sp_own_thread_start(&writer->thread, "sp-writer", SP_OWN_STACK_SMALL,
                              writer_run, writer);
  writer->runs = !error;
  if (!error)
    return SPANPROF_OK;
  sp_writer_end(writer);
  return sp_fail_errno(SPANPROF_ERR_SYSTEM, error, "cannot start a thread");
}

void sp_writer_end(sp_writer *writer) {
  if (!writer->db)
    return;
  if (writer->runs) {
    pthread_mutex_lock(&writer->lock);
    writer->ending = true;
    pthread_cond_signal(&writer->more);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
  }
  sp_intern_dispose(&writer->intern);
  sqlite3_finalize(writer->find_digest);
  sqlite3_finalize(writer->find_heads);
  sqlite3_finalize(writer->insert_block);
  sqlite3_close(writer->db);
  memset(writer, 0, sizeof *writer);
}

spanprof_status sp_writer_call(sp_writer *writer, sp_writer_fn fn, void *data) {
  sp_writer_job job = {.fn = fn, .data = data};

  pthread_mutex_lock(&writer->lock);
  if (writer->last)
    writer->last->next = &job;
  else
    writer->first = &job;
  writer->last = &job;
  pthread_cond_signal(&writer->more);
  while (!job.done)
    pthread_cond_wait(&writer->done, &writer->lock);
  pthread_mutex_unlock(&writer->lock);
  return job.st ? sp_fail(job.st, "%s", job.sentence) : SPANPROF_OK;
}
