#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "../../util/status.h"
#include "wide_filter.h"

/* How often there is a look at what can be compacted and what has to go. */
#define KEEP_EVERY_NS (20 * SP_NS_PER_S)

/* How often, at most, names and stacks of dropped profiles are looked for: that
 * reads a part of every block. */
#define KEEP_COLLECT_NS (3600 * SP_NS_PER_S)

#define KEEP_HOUR_NS ((int64_t)3600 * 1000000000)

/* A source's hour is compacted when it has so many profiles that are alone, or
 * none has come for a while. */
#define KEEP_WAITING_MIN 120
#define KEEP_QUIET_NS    ((int64_t)120 * 1000000000)

/* The keeper's thread packs for seconds what came in hours: uploads and queries
 * come first where all cores are busy. A third of their weight, for the store's
 * close waits for it. */
#define KEEP_NICE 5

/* Of one block: memory while it is made, and what a query of a minute reads
 * too much. */
#define KEEP_PROFILES_MAX 1024
#define KEEP_SAMPLES_MAX  400000

typedef struct keep_group {
  sp_store *store;
  uint32_t source;
  sp_block block;
  sp_block_parts parts;
  int64_t ids[KEEP_PROFILES_MAX]; /* of the rows that it replaces */
  size_t id_count;
  bool full; /* some were left for another block */
} keep_group;

/* Take the profiles of another block in. */
static spanprof_status keep_merge(sp_block *into, const sp_block *from) {
  const uint32_t profiles = (uint32_t)into->profile_count;
  const uint32_t series = (uint32_t)into->series_count;
  const uint32_t spans = (uint32_t)into->span_count;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  into->type_count = from->type_count;
  for (i = 0; !st && i < from->profile_count; i++)
    st = sp_block_add_profile(into, &from->profiles[i]);
  for (i = 0; !st && i < from->series_count; i++)
    st = sp_block_add_series(into, from->series[i].id);
  for (i = 0; !st && i < from->span_count; i++)
    st = sp_block_add_span(into, &from->spans[i]);
  for (i = 0; !st && i < from->sample_count; i++) {
    sp_block_sample sample = from->samples[i];

    sample.profile += profiles;
    sample.series += series;
    if (sample.span)
      sample.span += spans;
    st = sp_block_add_sample(into, &sample, &from->values[sample.values]);
  }
  return st;
}

static spanprof_status keep_read(sqlite3_stmt *row, sp_block *block) {
  spanprof_status st = sp_block_read_head(block, sqlite3_column_blob(row, 1),
                                          (size_t)sqlite3_column_bytes(row, 1));

  if (!st)
    st = sp_block_read_spans(block, sqlite3_column_blob(row, 2),
                             (size_t)sqlite3_column_bytes(row, 2));
  if (!st)
    st = sp_block_read_body(block, sqlite3_column_blob(row, 3),
                            (size_t)sqlite3_column_bytes(row, 3));
  return st;
}

bool sp_store_ends(sp_store *store) {
  bool ending;

  pthread_mutex_lock(&store->lock);
  ending = store->ending;
  pthread_mutex_unlock(&store->lock);
  return ending;
}

/* Gather the blocks of one hour, the oldest first, as many as one may have. */
static spanprof_status keep_gather(keep_group *group, sqlite3 *db,
                                   int64_t hour) {
  sqlite3_stmt *rows = NULL;
  sp_block one;
  int code = SQLITE_DONE;
  spanprof_status st = sp_database_prepare(
      db, &rows,
      "SELECT id, head, spans, body FROM block WHERE source=?1 AND until_ns>="
      "?2 AND until_ns<?3 AND profiles<?4 ORDER BY from_ns");

  if (st)
    return st;
  sqlite3_bind_int64(rows, 1, group->source);
  sqlite3_bind_int64(rows, 2, hour * KEEP_HOUR_NS);
  sqlite3_bind_int64(rows, 3, (hour + 1) * KEEP_HOUR_NS);
  sqlite3_bind_int64(rows, 4, KEEP_PROFILES_MAX / 2);
  sp_block_init(&one, group->store->mem);
  while (!st && !sp_store_ends(group->store) &&
         !(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    st = keep_read(rows, &one);
    if (!st && one.profile_count > 1 && one.sample_count > KEEP_SAMPLES_MAX / 2)
      continue; /* full */
    if (!st && group->block.profile_count &&
        (group->block.profile_count + one.profile_count > KEEP_PROFILES_MAX ||
         group->block.sample_count + one.sample_count > KEEP_SAMPLES_MAX)) {
      group->full = true;
      break;
    }
    if (!st)
      st = keep_merge(&group->block, &one);
    if (!st)
      group->ids[group->id_count++] = sqlite3_column_int64(rows, 0);
  }
  sp_block_dispose(&one);
  sqlite3_finalize(rows);
  return st;
}

/* The block for the rows it was made of, in one transaction.
 * SPANPROF_ERR_STATE: one of them is gone, by the retention or another call;
 * nothing changed. */
static spanprof_status keep_replace(sp_writer *writer, void *data) {
  const keep_group *group = data;
  sqlite3_stmt *drop = NULL;
  spanprof_status st =
      sp_database_prepare(writer->db, &drop, "DELETE FROM block WHERE id=?1");
  size_t i;

  for (i = 0; !st && i < group->id_count; i++) {
    sqlite3_bind_int64(drop, 1, group->ids[i]);
    st = sp_database_do(drop);
    if (!st && sqlite3_changes(writer->db) == 0)
      st = SPANPROF_ERR_STATE;
  }
  sqlite3_finalize(drop);
  return st ? st
            : sp_store_insert_block(writer, group->source,
                                    group->block.profiles,
                                    group->block.profile_count, &group->parts);
}

/* Make one block of an hour's. *more: of those that it had no room for another
 * can be made. What comes meanwhile waits for the next pass, or one source that
 * is sent to all the time would be packed again for each of its profiles. */
static spanprof_status keep_compact(sp_store *store, uint32_t source,
                                    int64_t hour, bool *more) {
  keep_group *group = sp_mem_zero(store->mem, sizeof *group);
  sp_store_reader *reader;
  spanprof_status st;

  *more = false;
  if (!group)
    return SPANPROF_ERR_NOMEM;
  group->store = store;
  group->source = source;
  sp_block_init(&group->block, store->mem);
  sp_block_parts_init(&group->parts, store->mem);
  st = sp_store_reader_take(store, &reader);
  if (!st) {
    st = keep_gather(group, reader->db, hour);
    sp_store_reader_give(store, reader);
  }
  if (!st && group->id_count > 1 && !sp_store_ends(store)) {
    *more = group->full;
    st = sp_block_sort(&group->block);
    if (!st)
      st = sp_block_write(&group->block, &group->parts);
    if (!st)
      st = sp_writer_call(&store->writer, keep_replace, group);
    if (st == SPANPROF_ERR_STATE) /* look again */
      st = SPANPROF_OK;
  }
  sp_block_parts_dispose(&group->parts);
  sp_block_dispose(&group->block);
  sp_mem_free(store->mem, group);
  return st;
}

/* The next source and hour that has blocks to put together; source 0: none. */
static spanprof_status keep_next(sp_store *store, bool all, uint32_t *source,
                                 int64_t *hour) {
  const int64_t now = (int64_t)sp_clock_unix_ns(store->clock);
  sqlite3_stmt *find = NULL;
  sp_store_reader *reader;
  int code = SQLITE_DONE;
  spanprof_status st = sp_store_reader_take(store, &reader);

  if (st)
    return st;
  st = sp_database_prepare(
      reader->db, &find,
      "SELECT source, until_ns/3600000000000 AS hour FROM block WHERE "
      "(source>?1 OR (source=?1 AND until_ns/3600000000000>?2)) AND "
      "profiles<?6 GROUP BY source, hour HAVING count(*)>1 AND "
      "(?3 OR sum(profiles=1)>=?4 OR max(until_ns)<?5) ORDER BY source, hour "
      "LIMIT 1");
  if (!st) {
    sqlite3_bind_int64(find, 1, *source);
    sqlite3_bind_int64(find, 2, *hour);
    sqlite3_bind_int64(find, 3, all);
    sqlite3_bind_int64(find, 4, KEEP_WAITING_MIN);
    sqlite3_bind_int64(find, 5, now - KEEP_QUIET_NS);
    sqlite3_bind_int64(find, 6, KEEP_PROFILES_MAX / 2);
    st = sp_database_step(find, &code);
  }
  *source = 0;
  if (!st && code == SQLITE_ROW) {
    *source = (uint32_t)sqlite3_column_int64(find, 0);
    *hour = sqlite3_column_int64(find, 1);
  }
  sqlite3_finalize(find);
  sp_store_reader_give(store, reader);
  return st;
}

static spanprof_status keep_compact_all(sp_store *store, bool all) {
  uint32_t source = 0;
  int64_t hour = INT64_MIN;
  spanprof_status st = keep_next(store, all, &source, &hour);
  bool more;

  while (!st && source && !sp_store_ends(store)) {
    do
      st = keep_compact(store, source, hour, &more);
    while (!st && more && !sp_store_ends(store));
    if (!st)
      st = keep_next(store, all, &source, &hour);
  }
  return st;
}

spanprof_status sp_store_compact(sp_store *store) {
  spanprof_status st = keep_compact_all(store, true);

  return st ? st : sp_wide_filter_keep(store);
}

static spanprof_status keep_collect(sp_store *store, uint64_t *next_ns) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);

  if (now < *next_ns || !atomic_load(&store->uncollected))
    return SPANPROF_OK;
  *next_ns = now + KEEP_COLLECT_NS;
  return sp_store_collect(store);
}

void *sp_store_keep(void *argument) {
  sp_store *store = argument;
  uint64_t collect_ns = 0;
  spanprof_status st;

  setpriority(PRIO_PROCESS, 0, KEEP_NICE); /* on Linux: of the thread alone */
  pthread_mutex_lock(&store->lock);
  while (!store->ending) {
    sp_clock_wait(store->clock, &store->keeper_wake, &store->lock,
                  sp_clock_monotonic_ns(store->clock) + KEEP_EVERY_NS);
    if (store->ending)
      break;
    pthread_mutex_unlock(&store->lock);
    st = sp_store_drop_old(store);
    if (!st)
      st = keep_compact_all(store, false);
    if (!st)
      st = sp_wide_filter_keep(store);
    if (!st)
      st = keep_collect(store, &collect_ns);
    if (st)
      sp_log_warn(store->log, SP_LOG_OUTPUT, "cannot tidy the store: %s",
                  spanprof_last_error());
    pthread_mutex_lock(&store->lock);
  }
  pthread_mutex_unlock(&store->lock);
  return NULL;
}
