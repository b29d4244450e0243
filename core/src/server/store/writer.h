/* The one thread that writes: what calls hand in while a transaction is under
 * way goes into the next one together, and each call returns once its
 * transaction is on disk.
 *
 * A job that fails is undone alone, the others of its transaction stay; where
 * the transaction cannot be committed (disk full), all fail. */
#ifndef SP_WRITER_H
#define SP_WRITER_H

#include <pthread.h>

#include "intern.h"

typedef struct sp_writer {
  /* Fixed after sp_writer_start(). */
  const sp_mem *mem;
  pthread_t thread;
  bool runs;
  /* Of the thread. */
  sqlite3 *db;
  sp_intern intern;
  sqlite3_stmt *find_digest; /* kept by put.c for the next profile */
  sqlite3_stmt *find_heads;
  sqlite3_stmt *insert_block;
  int64_t next_block; /* its number; 0: not looked for */
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t more;
  pthread_cond_t done;
  struct sp_writer_job *first;
  struct sp_writer_job *last;
  bool ending;
} sp_writer;

/* Does its part of a transaction, on the writer's thread. */
typedef spanprof_status (*sp_writer_fn)(sp_writer *writer, void *data);

/* `db` becomes the writer's, also after a failure. SPANPROF_ERR_SYSTEM. */
spanprof_status sp_writer_start(sp_writer *writer, const sp_mem *mem,
                                sqlite3 *db);

/* Do what was handed in, close the file. Also of one all zero. */
void sp_writer_end(sp_writer *writer);

/* Run `fn` and wait until its work is durable. Its status and sentence. */
spanprof_status sp_writer_call(sp_writer *writer, sp_writer_fn fn, void *data);

#endif
