/* The store's struct and internal functions, for the files below this folder
 * only. */
#ifndef SP_STORE_INSIDE_H
#define SP_STORE_INSIDE_H

#include "disk_budget.h"
#include "server/model/gate.h"
#include "server/store/block/block.h"
#include "store.h"
#include "writer.h"

/* Largest number of idle connections that are kept open for later calls. Each
 * has a page cache. */
#define SP_STORE_READERS_MAX 4

/* Largest number of damaged blocks that are remembered, so that each of them is
 * logged once. */
#define SP_STORE_DAMAGED_MAX 64

/* A connection for reading, used by one call at a time. */
typedef struct sp_store_reader {
  sqlite3 *db;
  struct sp_store_reader *next;
} sp_store_reader;

/* Reasons for deleting data. */
typedef enum sp_store_reason {
  SP_STORE_OLD,
  SP_STORE_LIMIT,
  SP_STORE_VOLUME,
  SP_STORE_REASONS,
} sp_store_reason;

typedef struct sp_store_drops {
  int64_t profiles;
  int64_t rows;
  uint64_t next_ns; /* time of the next log line */
} sp_store_drops;

struct sp_store {
  /* Fixed after sp_store_open(). */
  const sp_mem *mem;
  const sp_clock *clock;
  sp_log *log;
  char *path;
  uint64_t retention_ns;
  uint64_t max_bytes;
  int lock_file;
  sp_writer writer;
  sp_gate gate;
  pthread_mutex_t learning; /* locked while the new names of a large profile
                             * are stored */
  pthread_t maintenance;
  bool maintenance_runs;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t maintenance_wake;
  bool closing;
  sp_store_reader *idle; /* list of idle readers */
  size_t idle_count;
  int64_t damaged[SP_STORE_DAMAGED_MAX]; /* blocks that were logged */
  size_t damaged_count;
  bool collecting; /* a call of sp_store_collect() is running */
  sp_store_drops drops[SP_STORE_REASONS];
  bool space_needed;          /* the maintenance thread must free space now */
  pthread_cond_t space_freed; /* signalled when the maintenance thread has freed
                               * space */
  pthread_mutex_t shrinking;  /* locked while space is freed */
  /* Used by any thread. */
  _Atomic uint64_t uncollected; /* blocks and spans deleted since the last
                                 * collection */
  _Atomic bool collected; /* unused rows, which an earlier process may have
                           * left, were collected since the start */
  _Atomic uint64_t limit_bytes; /* limit for all files, when it was last read */
  sp_counter dropped_blocks;
  sp_counter dropped_profiles;
  sp_counter repeated_profiles;
  sp_counter other_series;
  uint64_t others_next_ns; /* used by the writer's thread: time of the next log
                            * line about series beyond the limits */
};

/* Open or reuse a connection, and begin a transaction that sees one state of
 * the file. Release the connection with sp_store_reader_release(). Returns the
 * status of sp_database_open() or SPANPROF_ERR_NOMEM. */
spanprof_status sp_store_reader_acquire(sp_store *store, sp_store_reader **out);

/* Like sp_store_reader_acquire(), for a query: the connection's statements fail
 * with SPANPROF_ERR_TIMEOUT once `cancel` is set. `cancel` may be NULL. */
spanprof_status sp_store_reader_acquire_for(sp_store *store, sp_cancel *cancel,
                                            sp_store_reader **out);
void sp_store_reader_release(sp_store *store, sp_store_reader *reader);

/* The function of the maintenance thread, which compacts and deletes. Returns
 * when `closing` is set. Defined in maintenance.c. */
void *sp_store_maintain(void *store);

/* The two parts of sp_store_drop_old(). Defined in retention.c. */
spanprof_status sp_store_drop_by_age(sp_store *store);
spanprof_status sp_store_drop_by_bytes(sp_store *store);

/* Return free pages of the file to the volume if there are many, or if the file
 * exceeds its limit. Defined in return_pages.c. */
spanprof_status sp_store_return_pages(sp_store *store);

/* Read the current sizes and limits of the files, and pass the limits to the
 * writer. */
void sp_store_budget(sp_store *store, sp_disk_budget *out);

/* Like sp_writer_call(), for jobs that make the store larger. If there is no
 * space, wait up to 2 s for the maintenance thread to delete older data.
 * Returns SPANPROF_ERR_IO if there is still no space. Defined in store_write.c.
 */
spanprof_status sp_store_write(sp_store *store, sp_writer_fn fn, void *data);

/* Returns whether the store is being closed: long work must stop then. */
bool sp_store_is_closing(sp_store *store);

/* Returns whether `st`, the status of reading a block, means that the block is
 * damaged, so that maintenance must skip it. The first such call for a block
 * logs it. Defined in damaged.c. */
bool sp_store_skip_damaged(sp_store *store, int64_t block, spanprof_status st);

/* Insert the row of a block, with its source, the times of its first and last
 * profile, and the number of profiles. `digest` is the hash of the content of a
 * single profile, or NULL. Runs on the writer's thread. Defined in
 * insert_block.c. */
spanprof_status sp_store_insert_block(sp_writer *writer, uint32_t source,
                                      int64_t from_ns, int64_t until_ns,
                                      size_t profiles, const uint64_t *digest,
                                      const sp_block_parts *parts);

#endif
