/* The writer: the thread that writes to the database file. Jobs that arrive
 * during a transaction are executed together in the next one. sp_writer_call()
 * returns once the job's transaction is on disk.
 *
 * A failed job is rolled back alone; the other jobs of its transaction are
 * kept. If the transaction cannot be committed (disk full), all its jobs fail.
 * When the write-ahead log reaches a certain size, the transaction is committed
 * before its remaining jobs run, and the log is copied into the file. */
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
  int64_t next_block; /* id of the next row in the table `block`; 0: not known
                       * yet */
  char log_path[4096];
  sp_log_bound bound; /* the log's limit in one transaction */
  uint64_t cache_bytes;
  bool empty_log; /* truncate the log after this transaction; set by a job */
  /* Set after each transaction: sizes in bytes of all pages of the file, and of
   * the pages in use. */
  _Atomic uint64_t file_bytes;
  _Atomic uint64_t used_bytes;
  /* Limits in bytes, set by any thread; 0: no limit. A log larger than
   * log_soft_max is truncated. If it is larger than half of log_max, the writer
   * waits for readers that still need it. */
  _Atomic uint64_t log_soft_max;
  _Atomic uint64_t log_max;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t more;
  pthread_cond_t done;
  struct sp_writer_job *first;
  struct sp_writer_job *last;
  bool stopping;
} sp_writer;

/* A job. Runs within a transaction, on the writer's thread. */
typedef spanprof_status (*sp_writer_fn)(sp_writer *writer, void *data);

/* Start the thread. sp_writer_stop() closes `db`; if the start fails, this
 * function closes it and returns SPANPROF_ERR_SYSTEM. */
spanprof_status sp_writer_start(sp_writer *writer, const sp_mem *mem,
                                sqlite3 *db, const char *path,
                                uint64_t max_series,
                                uint64_t max_series_per_application);

/* Execute the queued jobs, stop the thread and close the file. Does nothing if
 * the writer is all zero. */
void sp_writer_stop(sp_writer *writer);

/* Run `fn` on the writer's thread and wait until its changes are durable.
 * Returns the status of `fn`, with the error text that `fn` set, or that of a
 * failed transaction. */
spanprof_status sp_writer_call(sp_writer *writer, sp_writer_fn fn, void *data);

#endif
