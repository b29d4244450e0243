#include "writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/system/own_thread.h"
#include "util/system/status.h"

/* Largest number of jobs in one transaction. It keeps the log at some MiB, and
 * the callers' waits short. */
#define WRITER_JOBS_MAX 64

#define WRITER_SENTENCE_BYTES 512

/* SQLite's page cache of the writer's connection. */
#define WRITER_CACHE_BYTES ((uint64_t)16 << 20)

/* Longest wait for readers before the log is truncated. */
#define WRITER_READERS_MS 1000

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
  /* After some errors, SQLite has rolled the whole transaction back. */
  if (sqlite3_get_autocommit(writer->db))
    return job->st ? job->st : SPANPROF_ERR_IO;
  if (job->st) {
    sp_intern_forget(&writer->intern);
    st = sp_database_run(writer->db, "ROLLBACK TO job");
    if (st)
      return st;
  }
  return sp_database_run(writer->db, "RELEASE job");
}

static uint64_t writer_log_bytes(const sp_writer *writer) {
  struct stat file;

  return stat(writer->log_path, &file) ? 0 : (uint64_t)file.st_size;
}

/* Set the limits of the log and of the page cache for the next transaction. Its
 * changed pages are in the cache or in the log, so the log's size shows the
 * transaction's size only if the cache is not larger than the log's limit. */
static spanprof_status writer_bound(sp_writer *writer) {
  const uint64_t turn = atomic_load(&writer->log_soft_max);
  const uint64_t cache =
      turn ? sp_min_u64(turn, WRITER_CACHE_BYTES) : WRITER_CACHE_BYTES;
  const uint64_t max = atomic_load(&writer->log_max);
  char text[64];

  writer->bound.max = max ? writer_log_bytes(writer) + max - turn : 0;
  if (cache == writer->cache_bytes)
    return SPANPROF_OK;
  writer->cache_bytes = cache;
  snprintf(text, sizeof text, "PRAGMA cache_size=-%" PRIu64, cache >> 10);
  return sp_database_run(writer->db, text);
}

/* Returns whether the log is so large that the transaction must end. */
static bool writer_is_full(const sp_writer *writer) {
  const uint64_t turn = atomic_load(&writer->log_soft_max);

  return turn && writer_log_bytes(writer) > turn;
}

/* Truncate the log after a transaction, if a job requested this or the log is
 * too large. A failure is ignored, because the next transaction fails in the
 * same way. */
static void writer_truncate_log(sp_writer *writer) {
  const uint64_t max = atomic_load(&writer->log_max);
  const bool wanted = writer->empty_log;

  writer->empty_log = false;
  if (wanted || writer_is_full(writer))
    sp_database_empty_log(writer->db,
                          wanted || (max && writer_log_bytes(writer) > max / 2)
                              ? WRITER_READERS_MS
                              : 0);
}

static void writer_measure(sp_writer *writer) {
  int64_t page = 0, all = 0, unused = 0;

  if (sp_database_number(writer->db, "PRAGMA page_size", &page) ||
      sp_database_number(writer->db, "PRAGMA page_count", &all) ||
      sp_database_number(writer->db, "PRAGMA freelist_count", &unused))
    return;
  atomic_store(&writer->file_bytes, (uint64_t)(all * page));
  atomic_store(&writer->used_bytes, (uint64_t)((all - unused) * page));
}

/* Run the first jobs of the list in one transaction. *remaining is set to the
 * jobs that are left for the next transaction. */
static void writer_transaction(sp_writer *writer, sp_writer_job *jobs,
                               sp_writer_job **remaining) {
  sp_writer_job *job;
  spanprof_status st = writer_bound(writer);

  *remaining = NULL;
  if (!st)
    st = sp_database_run(writer->db, "BEGIN IMMEDIATE");
  for (job = jobs; job && !st; job = job->next) {
    st = writer_run_job(writer, job);
    if (!st && job->next && writer_is_full(writer)) {
      *remaining = job->next;
      job->next = NULL;
    }
  }
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

/* Detach the jobs of the next transaction from the queue. The caller holds
 * `lock`. */
static sp_writer_job *writer_detach_jobs(sp_writer *writer) {
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

/* Put jobs back at the front of the queue. The caller holds `lock`. */
static void writer_put_back(sp_writer *writer, sp_writer_job *jobs) {
  sp_writer_job *last = jobs;

  if (!jobs)
    return;
  while (last->next)
    last = last->next;
  last->next = writer->first;
  if (!writer->first)
    writer->last = last;
  writer->first = jobs;
}

static void *writer_run(void *argument) {
  sp_writer *writer = argument;
  sp_writer_job *jobs, *next, *remaining;

  pthread_mutex_lock(&writer->lock);
  for (;;) {
    while (!writer->first && !writer->stopping)
      pthread_cond_wait(&writer->more, &writer->lock);
    jobs = writer_detach_jobs(writer);
    if (!jobs)
      break;
    pthread_mutex_unlock(&writer->lock);
    writer_transaction(writer, jobs, &remaining);
    writer_truncate_log(writer);
    writer_measure(writer);
    pthread_mutex_lock(&writer->lock);
    writer_put_back(writer, remaining);
    for (; jobs; jobs = next) { /* a job is on its caller's stack, so it must
                                 * not be used after `done` is set */
      next = jobs->next;
      jobs->done = true;
    }
    pthread_cond_broadcast(&writer->done);
  }
  pthread_mutex_unlock(&writer->lock);
  return NULL;
}

spanprof_status sp_writer_start(sp_writer *writer, const sp_mem *mem,
                                sqlite3 *db, const char *path,
                                uint64_t max_series,
                                uint64_t max_series_per_application) {
  int error;

  memset(writer, 0, sizeof *writer);
  writer->mem = mem;
  writer->db = db;
  snprintf(writer->log_path, sizeof writer->log_path, "%s-wal", path);
  writer->bound.path = writer->log_path;
  writer->cache_bytes = WRITER_CACHE_BYTES;
  sp_intern_init(&writer->intern, mem, db, &writer->bound);
  sp_series_limit_init(&writer->intern.series, mem, max_series,
                       max_series_per_application);
  writer_measure(writer);
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->more, NULL);
  pthread_cond_init(&writer->done, NULL);
  error = sp_own_thread_start(&writer->thread, "sp-writer", SP_OWN_STACK_SMALL,
                              writer_run, writer);
  writer->runs = !error;
  if (!error)
    return SPANPROF_OK;
  sp_writer_stop(writer);
  return sp_fail_errno(SPANPROF_ERR_SYSTEM, error, "cannot start a thread");
}

void sp_writer_stop(sp_writer *writer) {
  if (!writer->db)
    return;
  if (writer->runs) {
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
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
