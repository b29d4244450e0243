#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_inside.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

/* Steps of SQLite's virtual machine between two checks whether the query was
 * cancelled, about 100 µs. */
#define STORE_PROGRESS_STEPS 10000

/* Lock a file next to the store, so that only one process uses the store. */
static spanprof_status store_lock(sp_store *store) {
  char path[4096];

  snprintf(path, sizeof path, "%s.lock", store->path);
  store->lock_file =
      open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (store->lock_file < 0)
    return sp_fail(SPANPROF_ERR_IO, "cannot write %s: %m", path);
  if (!flock(store->lock_file, LOCK_EX | LOCK_NB))
    return SPANPROF_OK;
  close(store->lock_file);
  store->lock_file = -1; /* so that sp_store_close() leaves the other server's
                          * files unchanged */
  return sp_fail(SPANPROF_ERR_STATE,
                 "another spanprof-server has the store %s open; stop it, or "
                 "choose another directory with --data",
                 store->path);
}

/* Make the files readable by their owner only, because they contain labels and
 * names of code. SQLite creates the log and its index with the mode of the
 * database file, but files that exist already may have another mode. */
static spanprof_status store_restrict_files(const sp_store *store) {
  static const char *const others[] = {"-wal", "-shm"};
  const int file = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  char path[4096];
  size_t i;

  if (file < 0)
    return sp_fail(SPANPROF_ERR_IO, "cannot open the store %s: %m",
                   store->path);
  fchmod(file, 0600);
  close(file);
  for (i = 0; i < SP_COUNT_OF(others); i++) {
    snprintf(path, sizeof path, "%s%s", store->path, others[i]);
    chmod(path, 0600);
  }
  return SPANPROF_OK;
}

/* Free space before the file is opened: opening needs some space, and a file of
 * an earlier version has to be copied. */
static void store_free_space(sp_store *store) {
  sp_disk_budget budget;
  bool done = true;

  sp_disk_budget_read(&budget, store->path, store->max_bytes);
  if (budget.free < budget.log_soft_max)
    budget.free = 0; /* so that the reserve is deleted */
  sp_disk_reserve_update(&budget, store->path);
  if (budget.database && sp_database_make_shrinkable(store->path, &done))
    sp_log_line(
        store->log, SPANPROF_LOG_WARN,
        "the store %s cannot return space to the disk: free space for a "
        "copy of it and restart the server: %s",
        store->path, spanprof_last_error());
}

static spanprof_status store_start(sp_store *store,
                                   const sp_store_options *options) {
  sqlite3 *db = NULL;
  spanprof_status st = store_lock(store);
  int error;

  if (!st)
    st = store_restrict_files(store);
  if (!st)
    store_free_space(store);
  if (!st)
    st = sp_database_create(&db, store->path, options->page_count_max);
  if (!st)
    st = sp_writer_start(&store->writer, store->mem, db, store->path,
                         options->max_series,
                         options->max_series_per_application);
  if (st)
    return st;
  error = sp_own_thread_start(&store->maintenance, "sp-maintenance",
                              SP_OWN_STACK_SMALL, sp_store_maintain, store);
  store->maintenance_runs = !error;
  return error ? sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                               "cannot start a thread")
               : SPANPROF_OK;
}

spanprof_status sp_store_open(sp_store **out, const sp_store_options *options) {
  sp_store *store = sp_mem_zero(options->mem, sizeof *store);
  spanprof_status st;

  *out = NULL;
  if (!store)
    return SPANPROF_ERR_NOMEM;
  store->mem = options->mem;
  store->clock = options->clock;
  store->log = options->log;
  store->retention_ns = options->retention_ns;
  store->max_bytes = options->max_bytes;
  store->lock_file = -1;
  /* At most one thread per processor parses or encodes uploads. More threads
   * would slow the writer down, and all uploads wait for the writer. */
  sp_gate_init(&store->gate, sp_gate_processors());
  pthread_mutex_init(&store->lock, NULL);
  pthread_mutex_init(&store->learning, NULL);
  sp_condition_init(&store->maintenance_wake);
  sp_condition_init(&store->space_freed);
  pthread_mutex_init(&store->shrinking, NULL);
  store->space_needed = true; /* the first pass runs immediately */
  store->path = sp_mem_text(options->mem, options->path, strlen(options->path));
  st = store->path ? store_start(store, options) : SPANPROF_ERR_NOMEM;
  if (st) {
    sp_store_close(store);
    return st;
  }
  *out = store;
  return SPANPROF_OK;
}

void sp_store_close(sp_store *store) {
  sp_store_reader *reader;
  sp_disk_budget budget;

  if (!store)
    return;
  if (store->maintenance_runs) {
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    pthread_cond_signal(&store->maintenance_wake);
    pthread_mutex_unlock(&store->lock);
    pthread_join(store->maintenance, NULL);
  }
  while ((reader = store->idle)) {
    store->idle = reader->next;
    sqlite3_close(reader->db);
    sp_mem_free(store->mem, reader);
  }
  sp_writer_stop(&store->writer);
  if (store->lock_file >= 0) {
    sp_disk_budget_read(&budget, store->path, store->max_bytes);
    sp_disk_reserve_close(&budget, store->path);
    close(store->lock_file);
  }
  pthread_cond_destroy(&store->maintenance_wake);
  pthread_cond_destroy(&store->space_freed);
  pthread_mutex_destroy(&store->shrinking);
  pthread_mutex_destroy(&store->lock);
  pthread_mutex_destroy(&store->learning);
  sp_gate_dispose(&store->gate);
  sp_mem_free(store->mem, store->path);
  sp_mem_free(store->mem, store);
}

sp_gate *sp_store_gate(sp_store *store) {
  return &store->gate;
}

spanprof_status sp_store_reader_acquire(sp_store *store,
                                        sp_store_reader **out) {
  sp_store_reader *reader;
  spanprof_status st = SPANPROF_OK;

  pthread_mutex_lock(&store->lock);
  reader = store->idle;
  if (reader) {
    store->idle = reader->next;
    store->idle_count--;
  }
  pthread_mutex_unlock(&store->lock);
  *out = NULL;
  if (!reader) {
    reader = sp_mem_zero(store->mem, sizeof *reader);
    if (!reader)
      return SPANPROF_ERR_NOMEM;
    st = sp_database_open(&reader->db, store->path);
  }
  if (!st)
    st = sp_database_run(reader->db, "BEGIN");
  if (st) {
    sqlite3_close(reader->db);
    sp_mem_free(store->mem, reader);
    return st;
  }
  *out = reader;
  return SPANPROF_OK;
}

static int store_is_cancelled(void *cancel) {
  return sp_cancelled(cancel);
}

spanprof_status sp_store_reader_acquire_for(sp_store *store, sp_cancel *cancel,
                                            sp_store_reader **out) {
  const spanprof_status st = sp_store_reader_acquire(store, out);

  if (!st && cancel)
    sqlite3_progress_handler((*out)->db, STORE_PROGRESS_STEPS,
                             store_is_cancelled, cancel);
  return st;
}

void sp_store_reader_release(sp_store *store, sp_store_reader *reader) {
  bool kept;

  sqlite3_progress_handler(reader->db, 0, NULL, NULL);
  sqlite3_exec(reader->db, "ROLLBACK", NULL, NULL, NULL);
  pthread_mutex_lock(&store->lock);
  kept = store->idle_count < SP_STORE_READERS_MAX;
  if (kept) {
    reader->next = store->idle;
    store->idle = reader;
    store->idle_count++;
  }
  pthread_mutex_unlock(&store->lock);
  if (kept)
    return;
  sqlite3_close(reader->db);
  sp_mem_free(store->mem, reader);
}

spanprof_status sp_store_get_stats(sp_store *store, sp_store_stats *out) {
  static const char *const queries[] = {
      "SELECT min(from_ns) FROM block",
      "SELECT max(until_ns) FROM block",
      "SELECT sum(profiles) FROM block",
      "SELECT count(*) FROM block WHERE profiles>1",
      "SELECT count(*) FROM series",
  };
  int64_t numbers[SP_COUNT_OF(queries)] = {0};
  sp_store_reader *reader;
  sp_disk_budget budget;
  spanprof_status st = sp_store_reader_acquire(store, &reader);
  size_t i;

  memset(out, 0, sizeof *out);
  if (st)
    return st;
  for (i = 0; !st && i < SP_COUNT_OF(queries); i++)
    st = sp_database_number(reader->db, queries[i], &numbers[i]);
  sp_store_reader_release(store, reader);
  out->oldest_ns = numbers[0];
  out->newest_ns = numbers[1];
  out->profiles = (uint64_t)numbers[2];
  out->blocks = (uint64_t)numbers[3];
  sp_store_budget(store, &budget);
  out->bytes = budget.database + budget.log + budget.reserve;
  out->limit_bytes = budget.limit;
  out->dropped_blocks = sp_counted(&store->dropped_blocks);
  out->dropped_profiles = sp_counted(&store->dropped_profiles);
  pthread_mutex_lock(&store->lock);
  out->damaged_blocks = store->damaged_count;
  pthread_mutex_unlock(&store->lock);
  out->series = (uint64_t)numbers[4];
  out->other_series = sp_counted(&store->other_series);
  out->repeated_profiles = sp_counted(&store->repeated_profiles);
  return st;
}
