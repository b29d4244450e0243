/* The thread that writes. Jobs that arrive during a transaction are executed
 * together in the next one. Each call returns once its transaction is on disk.
 *
 * A failed job is rolled back without the other jobs of its transaction. If the
 * transaction cannot be committed (disk full), all its jobs fail. A transaction
 * is committed early when the log has reached a certain size; the log is then
 * copied into the file. */
#ifndef SP_WRITER_H
#define SP_WRITER_H

#include <pthread.h>

#include "server/store/tables/intern.h"

typedef struct sp_writer {
  /* Fixed after sp_writer_start(). */
  const sp_mem *mem;
  pthread_t thread;
  bool runs;
  /* Used by the writer's thread only. */
  sqlite3 *db;
  sp_intern intern;
  sqlite3_stmt *find_digest; /* reused by put.c for each profile */
  sqlite3_stmt *find_heads;
  sqlite3_stmt *insert_block;
  int64_t next_block; /* number of the next block; 0: not known yet */
  char log_path[4096];
  sp_log_bound bound; /* the log's limit in one transaction */
  uint64_t cache_bytes;
  bool empty_log; /* truncate it after this transaction; set by a job */
  /* Set after each transaction: bytes of the file's pages, and of the pages in
   * use. */
  _Atomic uint64_t file_bytes;
  _Atomic uint64_t used_bytes;
  /* Set by any thread. A log larger than log_soft_max bytes is truncated. If it
   * is larger than half of log_max, the writer waits for readers before that.
   * 0: no limit. */
  _Atomic uint64_t log_soft_max;
  _Atomic uint64_t log_max;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t more;
  pthread_cond_t done;
  struct sp_writer_job *first;
  struct sp_writer_job *last;
  bool stopping;
} sp_writer;

/* Execute the job within a transaction, on the writer's thread. */
typedef spanprof_status (*sp_writer_fn)(sp_writer *writer, void *data);

/* Start the thread. The writer closes `db` later, also after a failure.
 * SPANPROF_ERR_SYSTEM. */
spanprof_status sp_writer_start(sp_writer *writer, const sp_mem *mem,
                                sqlite3 *db, const char *path,
                                uint64_t max_series,
                                uint64_t max_series_per_application);

/* Execute the queued jobs, stop the thread and close the file. A writer that is
 * all zero is allowed. */
void sp_writer_stop(sp_writer *writer);

/* Run `fn` on the writer's thread and wait until its changes are durable.
 * Returns the status of `fn`, with its sentence. */
spanprof_status sp_writer_call(sp_writer *writer, sp_writer_fn fn, void *data);

#endif
