#include "put_profile.h"
#include "store_inside.h"

/* Shortest time between two log lines about too many series. */
#define PUT_LINE_NS (600 * SP_NS_PER_S)

#define PUT_CONSEQUENCE                                \
  "further label values are replaced by \"[other]\"; " \
  "spanprof_store_other_series_total counts them"

typedef struct put_call {
  sp_store *store;
  sp_put *puts;
  size_t count;
  bool *repeated; /* for each profile, whether the store had it already; may be
                   * NULL */
} put_call;

/* Look for the profile in the heads of blocks without a digest: blocks of
 * several profiles, and blocks that were written before version 3 of the store.
 */
static spanprof_status put_is_in_a_head(sp_writer *writer, const sp_put *put,
                                        bool *there) {
  const sp_block_profile *profile = &put->profile;
  sqlite3_stmt *find;
  sp_block head;
  spanprof_status st;
  int code = SQLITE_DONE;
  size_t i;

  st = sp_database_prepare(
      writer->db, &writer->find_heads,
      "SELECT head FROM block INDEXED BY block_heads WHERE source=?1 AND "
      "until_ns>=?2 AND from_ns<=?2 AND digest IS NULL");
  if (st)
    return st;
  find = writer->find_heads;
  sqlite3_bind_int64(find, 1, put->source);
  sqlite3_bind_int64(find, 2, profile->time_ns);
  sp_block_init(&head, put->mem);
  while (!st && !*there && !(st = sp_database_step(find, &code)) &&
         code == SQLITE_ROW) {
    st = sp_block_read_head(&head, sqlite3_column_blob(find, 0),
                            (size_t)sqlite3_column_bytes(find, 0));
    for (i = 0; !st && i < head.profile_count; i++)
      *there |= head.profiles[i].time_ns == profile->time_ns &&
                head.profiles[i].hash == profile->hash;
  }
  sp_block_dispose(&head);
  sqlite3_reset(find);
  return st;
}

/* Look for a profile with the same source, time and content. */
static spanprof_status put_is_there(sp_writer *writer, const sp_put *put,
                                    bool *there) {
  spanprof_status st;
  int code;

  *there = false;
  st = sp_database_prepare(writer->db, &writer->find_digest,
                           "SELECT 1 FROM block INDEXED BY block_digest WHERE "
                           "source=?1 AND until_ns=?2 AND digest=?3");
  if (st)
    return st;
  sqlite3_bind_int64(writer->find_digest, 1, put->source);
  sqlite3_bind_int64(writer->find_digest, 2, put->profile.time_ns);
  sqlite3_bind_int64(writer->find_digest, 3, (int64_t)put->profile.hash);
  st = sp_database_step(writer->find_digest, &code);
  sqlite3_reset(writer->find_digest);
  *there = !st && code == SQLITE_ROW;
  return st || *there ? st : put_is_in_a_head(writer, put, there);
}

/* Count the series beyond the limits, and log a line about them from time to
 * time. */
static void put_log_others(sp_store *store, const sp_put *put) {
  const uint64_t now = sp_clock_monotonic_ns(store->clock);
  const char *name =
      sp_received_label(put->from, put->from->series, "service_name");

  sp_count(&store->other_series, put->others);
  if (now < store->others_next_ns)
    return;
  store->others_next_ns = now + PUT_LINE_NS;
  if (put->all_full)
    sp_log_line(store->log, SPANPROF_LOG_WARN,
                "the store has as many series as --max-series "
                "allows: " PUT_CONSEQUENCE);
  else
    sp_log_line(store->log, SPANPROF_LOG_WARN,
                "the application %.200s has as many series as "
                "--max-series-per-application allows: " PUT_CONSEQUENCE,
                name ? name : "without a name");
}

/* Store one profile, unless the store has it already. Runs on the writer's
 * thread. */
static spanprof_status put_one(sp_writer *writer, sp_store *store, sp_put *put,
                               bool *repeated) {
  spanprof_status st = sp_put_finish(put);

  *repeated = false;
  if (put->others)
    put_log_others(store, put);
  if (!st)
    st = put_is_there(writer, put, repeated);
  if (!st && *repeated)
    sp_count(&store->repeated_profiles, 1);
  else if (!st)
    st = sp_store_insert_block(writer, put->source, put->profile.time_ns,
                               put->profile.time_ns, 1, &put->profile.hash,
                               &put->parts);
  return st;
}

static spanprof_status put_all(sp_writer *writer, void *data) {
  const put_call *call = data;
  spanprof_status st = SPANPROF_OK;
  bool repeated;
  size_t i;

  for (i = 0; !st && i < call->count; i++) {
    st = put_one(writer, call->store, &call->puts[i], &repeated);
    if (call->repeated)
      call->repeated[i] = repeated;
  }
  return st;
}

typedef struct put_part {
  sp_put *put;
  bool more;
} put_part;

static spanprof_status put_learn_some(sp_writer *writer, void *data) {
  put_part *part = data;

  (void)writer;
  return sp_put_learn(part->put, &part->more);
}

/* Give ids to the new items of a large profile in several transactions. Other
 * profiles are written between them. Only one large profile is processed at a
 * time. If storing the profile fails, the next collection deletes its names and
 * stacks. */
static spanprof_status put_learn(sp_store *store, sp_put *put) {
  put_part part = {.put = put, .more = true};
  spanprof_status st = SPANPROF_OK;

  pthread_mutex_lock(&store->learning);
  while (!st && part.more)
    st = sp_store_write(store, put_learn_some, &part);
  pthread_mutex_unlock(&store->learning);
  return st ? st : sp_put_pack(put);
}

spanprof_status sp_store_put(sp_store *store,
                             const sp_received *const *profiles, size_t count,
                             bool *repeated) {
  put_call call = {.store = store, .repeated = repeated};
  spanprof_status st = SPANPROF_OK;

  if (!count)
    return SPANPROF_OK;
  call.puts = sp_mem_zero(store->mem, count * sizeof *call.puts);
  if (!call.puts)
    return SPANPROF_ERR_NOMEM;
  while (!st && call.count < count) {
    sp_put *put = &call.puts[call.count];

    sp_put_init(put, store->mem, &store->writer.intern, profiles[call.count++]);
    sp_gate_enter(&store->gate);
    st = sp_put_prepare(put);
    sp_gate_leave(&store->gate);
    if (!st && sp_put_is_large(put))
      st = put_learn(store, put);
  }
  if (!st)
    st = sp_store_write(store, put_all, &call);
  while (call.count)
    sp_put_dispose(&call.puts[--call.count]);
  sp_mem_free(store->mem, call.puts);
  return st;
}
