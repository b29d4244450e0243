/* The store's parts, for the files of this room alone. */
#ifndef SP_STORE_INSIDE_H
#define SP_STORE_INSIDE_H

#include "disk_budget.h"
#include "server/model/gate.h"
#include "server/store/block/block.h"
#include "store.h"
#include "writer.h"

/* Connections that are kept for the next call: each has a cache. */
#define SP_STORE_READERS_MAX 4

/* Damaged blocks that are told of. */
#define SP_STORE_DAMAGED_MAX 64

/* A connection for one call at a time. */
typedef struct sp_store_reader {
  sqlite3 *db;
  struct sp_store_reader *next;
} sp_store_reader;

/* Reasons for dropping data; how much was dropped since the last log line. */
typedef enum sp_store_reason {
  SP_STORE_OLD,
  SP_STORE_LIMIT,
  SP_STORE_VOLUME,
  SP_STORE_REASONS,
} sp_store_reason;

typedef struct sp_store_drops {
  int64_t profiles;
  int64_t rows;
  uint64_t next_ns; /* next log line not before */
} sp_store_drops;

struct sp_store {
  /* Fixed after the open. */
  const sp_mem *mem;
  const sp_clock *clock;
  sp_log *log;
  char *path;
  uint64_t retention_ns;
  uint64_t max_bytes;
  int lock_file;
  sp_writer writer;
  sp_gate gate;
  pthread_mutex_t learning; /* held while a large profile is stored */
  pthread_t keeper;
  bool keeper_runs;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t keeper_wake;
  bool ending;
  sp_store_reader *idle; /* readers without work */
  size_t idle_count;
  int64_t damaged[SP_STORE_DAMAGED_MAX]; /* blocks that were told of */
  size_t damaged_count;
  bool collects; /* a call of sp_store_collect() is under way */
  sp_store_drops drops[SP_STORE_REASONS];
  bool pressed;            /* the keeper must make room now */
  pthread_cond_t room;     /* signalled when the keeper has made room */
  pthread_mutex_t shrinks; /* held while room is made */
  /* Any thread. */
  _Atomic uint64_t uncollected; /* blocks and spans dropped since the last */
  _Atomic bool collected; /* unused rows were collected once since the start, as
                           * an earlier process may have left some */
  _Atomic uint64_t limit_bytes; /* of all files, as last read */
  sp_counter dropped_blocks;
  sp_counter dropped_profiles;
  sp_counter repeated_profiles;
  sp_counter other_series;
  uint64_t others_next_ns; /* the writer's: next log line not before */
};

/* A connection in a transaction of its own, which sees one state of the file;
 * give it back. Statuses as of sp_database_open(). */
spanprof_status sp_store_reader_take(sp_store *store, sp_store_reader **out);

/* The same for a query: its statements fail with SPANPROF_ERR_TIMEOUT once
 * `cancel` is set. NULL: never. */
spanprof_status sp_store_reader_take_for(sp_store *store, sp_cancel *cancel,
                                         sp_store_reader **out);
void sp_store_reader_give(sp_store *store, sp_store_reader *reader);

/* What compacts and drops; keep.c. Its thread ends when `ending` is set. */
void *sp_store_keep(void *store);

/* The parts of sp_store_drop_old(); retention.c. */
spanprof_status sp_store_drop_by_age(sp_store *store);
spanprof_status sp_store_drop_by_bytes(sp_store *store);

/* Return free pages to the volume if there are many or the files exceed the
 * limit; give_back.c. */
spanprof_status sp_store_give_back(sp_store *store);

/* Read the present limits of the files, and pass them to the writer. */
void sp_store_budget(sp_store *store, sp_disk_budget *out);

/* As sp_writer_call(), for jobs that make the store larger. If there is no
 * room, waits a short time for the keeper to drop older data. SPANPROF_ERR_IO:
 * still no room; store_write.c. */
spanprof_status sp_store_write(sp_store *store, sp_writer_fn fn, void *data);

/* Whether the store is about to be closed: long work is given up. */
bool sp_store_ends(sp_store *store);

/* Whether a block that was read with `st` is damaged, for what tidies the
 * store: it goes on without it, and the first time somebody is told; damaged.c.
 */
bool sp_store_leaves_out(sp_store *store, int64_t block, spanprof_status st);

/* Write a block's row: its source, the times of its first and its last profile,
 * their count, and of a single one the digest of its content, NULL else;
 * insert_block.c. On the writer's thread. */
spanprof_status sp_store_insert_block(sp_writer *writer, uint32_t source,
                                      int64_t from_ns, int64_t until_ns,
                                      size_t profiles, const uint64_t *digest,
                                      const sp_block_parts *parts);

#endif
