/* A new profile is a row of its own, and rows of all sources arrive
 * interleaved: each page of the file has rows of many sources. Deleting rows
 * source by source would write every page once for each source. Therefore a
 * pass has two steps. The first step compacts the single profiles, the oldest
 * first, and each of its transactions has some of every source. Each
 * transaction thus frees whole pages, which need not be written. The second
 * step merges these small blocks, each of which has its own pages.
 *
 * Runs on the maintenance thread, or on the thread of a call of
 * sp_store_compact(). Rows are read without the writer. If one of them was
 * deleted before the transaction that replaces them, the transaction changes
 * nothing, and the next pass tries again. */
#include "compact.h"

#include "util/system/status.h"

#define COMPACT_HOUR_NS ((int64_t)3600 * 1000000000)

/* The blocks of one source and hour are compacted if there are SINGLES_MIN
 * single profiles, or small blocks with enough profiles for a larger one, or if
 * their newest profile is older than QUIET. */
#define COMPACT_SINGLES_MIN 120
#define COMPACT_QUIET_NS    ((int64_t)120 * 1000000000)

/* Limits of one block. They limit the memory for making the block, and the data
 * that a query for one minute reads in vain. A block with half of a limit is
 * not compacted again. */
#define COMPACT_SAMPLES_MAX 400000
#define COMPACT_VALUES_MAX  1600000 /* 400000 samples with four types */

/* A block has at most 1/PART of the bytes of the store's limit, so that a small
 * store deletes little data at a time. */
#define COMPACT_DATA_PART 16

/* Limits of one transaction. They are low because uploads wait for its end. */
#define COMPACT_ROWS_MAX   1024
#define COMPACT_BLOCKS_MAX 64
#define COMPACT_BYTES_MAX  ((size_t)1 << 20)

/* If many hours of sources have rows to compact, the smallest number of rows of
 * each in one transaction. */
#define COMPACT_SHARE_MIN (COMPACT_ROWS_MAX / COMPACT_BLOCKS_MAX)

/* A place: one hour of one source, which has rows to compact. */
typedef struct compact_place {
  uint32_t source;
  int64_t hour;
  bool more; /* rows are left for the next block or transaction */
} compact_place;

typedef struct compact_made {
  uint32_t source;
  int64_t from_ns, until_ns;
  size_t profiles;
  sp_block_parts parts;
} compact_made;

typedef struct compact {
  sp_store *store;
  bool singles; /* this is the first step, for single profiles */
  bool all;
  bool again; /* another call deleted a row, so the next pass must try again */
  sp_compact_seen seen, now;
  int64_t last_row; /* Highest row that this step processes. Newer rows are left
                     * for a later step or pass, so that the step finishes even
                     * if data arrives all the time. */
  compact_place places[COMPACT_BLOCKS_MAX];
  size_t place_count;
  size_t profiles_max;      /* largest number of profiles in one block */
  uint64_t block_bytes_max; /* limit for the sum of the sizes of the rows that
                             * become one block */
  /* The block that is being made. */
  sp_block block;
  uint64_t block_bytes;
  /* The next transaction: blocks, and the rows that they replace. */
  compact_made made[COMPACT_BLOCKS_MAX];
  size_t made_count;
  int64_t rows[COMPACT_ROWS_MAX];
  size_t row_count;
  size_t bytes;
} compact;

/* Append the profiles of another block. */
static spanprof_status compact_merge(sp_block *into, const sp_block *from) {
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

static spanprof_status compact_read(sqlite3_stmt *row, sp_block *block) {
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

/* Returns whether the block that is being made has no space for the block
 * `next`. */
static bool compact_is_full(const compact *all, const sp_block *next,
                            uint64_t bytes) {
  const sp_block *block = &all->block;

  return block->profile_count &&
         (all->block_bytes + bytes > all->block_bytes_max ||
          block->profile_count + next->profile_count > all->profiles_max ||
          block->sample_count + next->sample_count > COMPACT_SAMPLES_MAX ||
          block->value_count + next->value_count > COMPACT_VALUES_MAX);
}

static bool compact_is_large(const sp_block *block) {
  return block->sample_count > COMPACT_SAMPLES_MAX / 2 ||
         block->value_count > COMPACT_VALUES_MAX / 2;
}

/* Add up to `most` of a place's remaining rows to the block that is being made,
 * the oldest first. */
static spanprof_status compact_gather(compact *all, sqlite3 *db,
                                      compact_place *place, size_t most) {
  const size_t end = all->row_count + most; /* at most COMPACT_ROWS_MAX */
  sqlite3_stmt *rows = NULL;
  sp_block one;
  uint64_t bytes;
  int64_t end_ns;
  int code = SQLITE_DONE;
  spanprof_status st = sp_database_prepare(
      db, &rows,
      "SELECT id, head, spans, body, bytes FROM block WHERE source=?1 AND "
      "until_ns>=?2 AND until_ns<=?3 AND profiles<?4 AND id<=?5 AND bytes<=?6 "
      "ORDER BY from_ns");

  place->more = false;
  if (st)
    return st;
  /* For the last possible hour, the end is beyond the range of int64_t. */
  if (__builtin_add_overflow(place->hour * COMPACT_HOUR_NS, COMPACT_HOUR_NS - 1,
                             &end_ns))
    end_ns = INT64_MAX;
  sqlite3_bind_int64(rows, 1, place->source);
  sqlite3_bind_int64(rows, 2, place->hour * COMPACT_HOUR_NS);
  sqlite3_bind_int64(rows, 3, end_ns);
  sqlite3_bind_int64(rows, 4,
                     all->singles ? 2 : (int64_t)all->profiles_max / 2);
  sqlite3_bind_int64(rows, 5, all->last_row);
  sqlite3_bind_int64(rows, 6, (int64_t)(all->block_bytes_max / 2));
  sp_block_init(&one, all->store->mem);
  while (!st && !sp_store_is_closing(all->store) &&
         !(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    st = compact_read(rows, &one);
    if (sp_store_skip_damaged(all->store, sqlite3_column_int64(rows, 0), st)) {
      st = SPANPROF_OK;
      continue;
    }
    if (!st && compact_is_large(&one))
      continue;
    bytes = (uint64_t)sqlite3_column_int64(rows, 4);
    if (!st && (all->row_count == end || compact_is_full(all, &one, bytes))) {
      place->more = true;
      break;
    }
    if (!st)
      st = compact_merge(&all->block, &one);
    if (!st)
      all->rows[all->row_count++] = sqlite3_column_int64(rows, 0);
    all->block_bytes += bytes;
  }
  sp_block_dispose(&one);
  sqlite3_finalize(rows);
  return st;
}

/* Replace rows by the blocks that were made of them. Runs on the writer's
 * thread. Returns SPANPROF_ERR_STATE and changes nothing if the retention or
 * another call deleted one of the rows. */
static spanprof_status compact_replace(sp_writer *writer, void *data) {
  const compact *all = data;
  sqlite3_stmt *drop = NULL;
  spanprof_status st =
      sp_database_prepare(writer->db, &drop, "DELETE FROM block WHERE id=?1");
  size_t i;

  for (i = 0; !st && i < all->row_count; i++) {
    sqlite3_bind_int64(drop, 1, all->rows[i]);
    st = sp_database_do(drop);
    if (!st && sqlite3_changes(writer->db) == 0)
      st = SPANPROF_ERR_STATE;
  }
  sqlite3_finalize(drop);
  for (i = 0; !st && i < all->made_count; i++) {
    const compact_made *made = &all->made[i];

    st = sp_store_insert_block(writer, made->source, made->from_ns,
                               made->until_ns, made->profiles, NULL,
                               &made->parts);
  }
  return st;
}

static void compact_forget(compact *all) {
  while (all->made_count)
    sp_block_parts_dispose(&all->made[--all->made_count].parts);
  all->row_count = all->bytes = 0;
}

static void compact_end_places(compact *all) {
  size_t i;

  for (i = 0; i < all->place_count; i++)
    all->places[i].more = false;
}

static spanprof_status compact_flush(compact *all) {
  spanprof_status st = SPANPROF_OK;

  if (all->made_count)
    st = sp_writer_call(&all->store->writer, compact_replace, all);
  compact_forget(all);
  if (st != SPANPROF_ERR_STATE)
    return st;
  compact_end_places(all);
  all->again = true;
  return SPANPROF_OK;
}

/* Encode the block, and add it to the next transaction. */
static spanprof_status compact_make(compact *all, uint32_t source) {
  compact_made *made = &all->made[all->made_count++];
  sp_block *block = &all->block;
  spanprof_status st;

  sp_block_parts_init(&made->parts, all->store->mem);
  st = sp_block_sort(block);
  if (!st)
    st = sp_block_write(block, &made->parts);
  if (st)
    return st;
  made->source = source;
  made->from_ns = block->profiles[0].time_ns;
  made->until_ns = block->profiles[block->profile_count - 1].time_ns;
  made->profiles = block->profile_count;
  all->bytes += made->parts.spans.size + made->parts.body.size;
  return SPANPROF_OK;
}

static spanprof_status compact_one(compact *all, compact_place *place,
                                   size_t most) {
  const size_t before = all->row_count;
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_acquire(all->store, &reader);

  if (st)
    return st;
  sp_block_clear(&all->block);
  all->block_bytes = 0;
  st = compact_gather(all, reader->db, place, most);
  sp_store_reader_release(all->store, reader);
  if (!st && all->row_count - before > 1 && !sp_store_is_closing(all->store))
    return compact_make(all, place->source);
  all->row_count = before;
  place->more = false;
  return st;
}

/* Process the places in rounds, each of which adds some rows of every place to
 * blocks, until no rows are left. */
static spanprof_status compact_places(compact *all) {
  const size_t share =
      all->singles ? COMPACT_ROWS_MAX / all->place_count : COMPACT_ROWS_MAX;
  spanprof_status st = SPANPROF_OK;
  bool more = true;
  size_t i;

  while (!st && more) {
    more = false;
    for (i = 0; !st && i < all->place_count; i++) {
      if (!all->places[i].more)
        continue;
      st = compact_one(all, &all->places[i],
                       sp_min_u64(share, COMPACT_ROWS_MAX - all->row_count));
      more |= all->places[i].more;
      if (!st && (all->bytes > COMPACT_BYTES_MAX ||
                  COMPACT_ROWS_MAX - all->row_count < COMPACT_SHARE_MIN))
        st = compact_flush(all);
    }
    if (!st)
      st = compact_flush(all);
    more &= !sp_store_is_closing(all->store);
  }
  return st;
}

/* Finds places that are worth compacting: they have enough profiles, or their
 * newest profile is old enough, and a previous pass has not processed them
 * already. */
#define COMPACT_FIND(amount)                                              \
  "SELECT source, until_ns/3600000000000 AS hour FROM block WHERE "       \
  "(source>?1 OR (source=?1 AND until_ns/3600000000000>?2)) AND "         \
  "profiles<?3 GROUP BY source, hour HAVING count(*)>1 AND (?4 OR "       \
  "(" amount ">=?9 AND max(id)>?6) OR (max(until_ns)<?5 AND (max(id)>?6 " \
  "OR max(until_ns)>=?7))) ORDER BY source, hour LIMIT ?8"

/* Find the next places after *last, and set *last to the last of them. */
static spanprof_status compact_find(compact *all, compact_place *last) {
  sqlite3_stmt *find = NULL;
  sp_store_reader *reader;
  int code = SQLITE_DONE;
  spanprof_status st = sp_store_reader_acquire(all->store, &reader);

  all->place_count = 0;
  if (st)
    return st;
  st = sp_database_prepare(reader->db, &find,
                           all->singles ? COMPACT_FIND("count(*)")
                                        : COMPACT_FIND("sum(profiles)"));
  if (!st) {
    sqlite3_bind_int64(find, 1, last->source);
    sqlite3_bind_int64(find, 2, last->hour);
    sqlite3_bind_int64(find, 3,
                       all->singles ? 2 : (int64_t)all->profiles_max / 2);
    sqlite3_bind_int64(find, 4, all->all);
    sqlite3_bind_int64(find, 5, all->now.quiet_ns);
    sqlite3_bind_int64(find, 6, all->seen.block);
    sqlite3_bind_int64(find, 7, all->seen.quiet_ns);
    sqlite3_bind_int64(find, 8, COMPACT_BLOCKS_MAX);
    sqlite3_bind_int64(find, 9,
                       all->singles ? COMPACT_SINGLES_MIN
                                    : (int64_t)all->profiles_max / 2);
  }
  while (!st && !(st = sp_database_step(find, &code)) && code == SQLITE_ROW) {
    last->source = (uint32_t)sqlite3_column_int64(find, 0);
    last->hour = sqlite3_column_int64(find, 1);
    last->more = true;
    all->places[all->place_count++] = *last;
  }
  sqlite3_finalize(find);
  sp_store_reader_release(all->store, reader);
  return st;
}

static spanprof_status compact_step(compact *all, bool singles) {
  compact_place last = {.hour = INT64_MIN};
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_acquire(all->store, &reader);

  if (st)
    return st;
  st = sp_database_number(reader->db, "SELECT coalesce(max(id), 0) FROM block",
                          &all->last_row);
  sp_store_reader_release(all->store, reader);
  if (singles)
    all->now.block = all->last_row;
  all->singles = singles;
  if (!st)
    st = compact_find(all, &last);
  while (!st && all->place_count && !sp_store_is_closing(all->store)) {
    st = compact_places(all);
    if (!st)
      st = compact_find(all, &last);
  }
  return st;
}

spanprof_status sp_compact(sp_store *store, bool all_of_it, size_t profiles_max,
                           sp_compact_seen *seen) {
  compact *all = sp_mem_zero(store->mem, sizeof *all);
  sp_disk_budget budget;
  spanprof_status st;

  if (!all)
    return SPANPROF_ERR_NOMEM;
  sp_store_budget(store, &budget);
  all->store = store;
  all->block_bytes_max = budget.data_max / COMPACT_DATA_PART;
  all->all = all_of_it;
  all->profiles_max = profiles_max;
  all->seen = *seen;
  sp_block_init(&all->block, store->mem);
  all->now.quiet_ns =
      (int64_t)sp_clock_unix_ns(store->clock) - COMPACT_QUIET_NS;
  st = compact_step(all, true);
  if (!st)
    st = compact_step(all, false);
  if (!st && !all->again && !sp_store_is_closing(store))
    *seen = all->now;
  compact_forget(all);
  sp_block_dispose(&all->block);
  sp_mem_free(store->mem, all);
  return st;
}
