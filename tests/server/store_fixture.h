/* A store in a temporary file, and profiles for it. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "check.h"

#include <server/store/store.h>
#include <sqlite3.h>
#include <unistd.h>
#include <util/system/status.h>

#define FIXTURE_TYPE "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
/* SQL that selects the number of frames in the table `stack`. All locations
 * must have ids below 128, so that each has one byte in the column `more`. */
#define FIXTURE_FRAMES "SELECT count(*)+ifnull(sum(length(more)), 0) FROM stack"
/* SQL that converts the table `stack` to its form before version 4 of the
 * store: each frame has a row of its own, and there is no column `more`. */
#define FIXTURE_HEX(at) \
  "(instr('0123456789ABCDEF', substr(hex(more), " at ", 1))-1)"
#define FIXTURE_WITHOUT_RUNS                                                   \
  "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM k WHERE n<31) "  \
  "INSERT INTO stack(id, parent, location) SELECT id+n, id+n-1, " FIXTURE_HEX( \
      "2*n-1") "*16+" FIXTURE_HEX("2*n") " FROM stack, k WHERE "               \
                                         "length(more)>=n; ALTER TABLE stack " \
                                         "DROP COLUMN more;"
#define FIXTURE_SECOND INT64_C(1000000000)
#define FIXTURE_TIME   (INT64_C(1700000000) * FIXTURE_SECOND)

static char fixture_path[64];
static sp_log fixture_log;
static uint64_t fixture_retention_ns, fixture_max_bytes, fixture_pages_max;
static uint64_t fixture_max_series, fixture_max_series_of_one;

static inline spanprof_status fixture_try_open(sp_store **out) {
  const sp_store_options options = {.mem = &sp_mem_default,
                                    .clock = sp_clock_system(),
                                    .log = &fixture_log,
                                    .path = fixture_path,
                                    .retention_ns = fixture_retention_ns,
                                    .max_bytes = fixture_max_bytes,
                                    .max_series = fixture_max_series,
                                    .max_series_per_application =
                                        fixture_max_series_of_one,
                                    .page_count_max = fixture_pages_max};

  return sp_store_open(out, &options);
}

static inline sp_store *fixture_open(void) {
  sp_store *store;

  if (fixture_try_open(&store))
    check_texts(__FILE__, __LINE__, "open", spanprof_last_error(), "a store");
  return store;
}

/* Set fixture_path to the path of a new file, which fixture_end() removes, and
 * the options to their defaults. */
static inline void fixture_begin(void) {
  snprintf(fixture_path, sizeof fixture_path, "/tmp/spanprof-store-%d.db",
           (int)getpid());
  unlink(fixture_path);
  fixture_retention_ns = fixture_max_bytes = fixture_pages_max = 0;
  fixture_max_series = fixture_max_series_of_one = 0;
  sp_log_init(&fixture_log, NULL, NULL, SPANPROF_LOG_OFF, sp_clock_system());
}

static inline void fixture_end(void) {
  static const char *const kinds[] = {"", "-wal", "-shm", ".lock", ".reserve"};
  char path[80];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(kinds); i++) {
    snprintf(path, sizeof path, "%s%s", fixture_path, kinds[i]);
    unlink(path);
  }
}

/* Return the number that a SQL statement selects from the file. A store may
 * have the file open. */
static inline int64_t fixture_number(const char *sql) {
  sqlite3_stmt *ask;
  int64_t number;
  sqlite3 *db;

  CHECK_EQUAL(SQLITE_OK, sqlite3_open(fixture_path, &db));
  CHECK_EQUAL(SQLITE_OK, sqlite3_prepare_v2(db, sql, -1, &ask, NULL));
  CHECK_EQUAL(SQLITE_ROW, sqlite3_step(ask));
  number = sqlite3_column_int64(ask, 0);
  sqlite3_finalize(ask);
  sqlite3_close(db);
  return number;
}

static inline void fixture_run(const char *sql) {
  sqlite3 *db;

  CHECK_EQUAL(SQLITE_OK, sqlite3_open(fixture_path, &db));
  /* Wait for the locks that the writer and the maintenance of the store hold
   * for short times. */
  CHECK_EQUAL(SQLITE_OK, sqlite3_busy_timeout(db, 10000));
  CHECK_EQUAL(SQLITE_OK, sqlite3_exec(db, sql, NULL, NULL, NULL));
  sqlite3_close(db);
}

/* Callback of sp_store_documents(): counts the documents in *data, an int. */
static inline bool fixture_count_document(void *data,
                                          const sp_store_document *document) {
  (void)document;
  ++*(int *)data;
  return true;
}

static inline uint32_t fixture_text(sp_received *profile, const char *text) {
  return sp_received_add_text(profile, text, strlen(text));
}

static inline uint32_t fixture_labels(sp_received *profile,
                                      const char *const (*pairs)[2],
                                      size_t count) {
  sp_received_pair made[8];
  size_t i;

  for (i = 0; i < count; i++) {
    made[i].name = fixture_text(profile, pairs[i][0]);
    made[i].value = fixture_text(profile, pairs[i][1]);
  }
  return sp_received_add_labels(profile, made, count);
}

/* Create a profile of an application with one sample type. */
static inline sp_received *
fixture_profile_of(const char *metric, const char *type, const char *unit,
                   const char *service, int64_t time_ns) {
  const char *const labels[][2] = {{"__name__", metric},
                                   {"service_name", service}};
  sp_received *profile;

  CHECK(!sp_received_new(&profile, &sp_mem_default, 64 << 20));
  sp_received_add_type(profile, type, unit);
  profile->period_type = profile->types[0];
  profile->period = 10000000;
  profile->time_ns = time_ns;
  profile->duration_ns = 10 * FIXTURE_SECOND;
  profile->series = fixture_labels(profile, labels, 2);
  return profile;
}

/* Create a CPU profile. */
static inline sp_received *fixture_profile(const char *service,
                                           int64_t time_ns) {
  return fixture_profile_of("process_cpu", "cpu", "nanoseconds", service,
                            time_ns);
}

/* Add a sample. `frames` is "main;a;b", outermost first; `name` is the span's
 * name or NULL. */
static inline void fixture_sample(sp_received *profile, const char *frames,
                                  const char *name, uint64_t span_id,
                                  sp_trace_id trace, int64_t value) {
  const char *const labels[][2] = {{"span_name", name}};
  sp_received_sample sample = {
      .span_id = span_id, .trace_hi = trace.hi, .trace_lo = trace.lo};
  uint32_t places[64], count = 0, i;
  const char *at = frames;

  while (*at) {
    const size_t size = strcspn(at, ";");
    sp_received_line line = {.line = 7};

    line.function = sp_received_add_function(
        profile, sp_received_add_text(profile, at, size),
        fixture_text(profile, "app.rb"), 1);
    places[count++] = sp_received_add_location(profile, &line, 1, 0);
    at += size + (at[size] == ';');
  }
  for (i = 0; i < count / 2; i++) {
    const uint32_t other = places[i];

    places[i] = places[count - 1 - i];
    places[count - 1 - i] = other;
  }
  sample.stack = sp_received_add_stack(profile, places, count);
  sample.labels = name ? fixture_labels(profile, labels, 1) : 0;
  sp_received_add_sample(profile, &sample, &value);
}

/* Add `count` samples. All stacks have the same `depth` frames (at most 1,000),
 * but each one in another random order. */
static inline void fixture_deep_stacks(sp_received *profile, size_t depth,
                                       size_t count) {
  uint32_t places[1000], random = 1;
  const int64_t value = 1;
  size_t i, j;

  for (i = 0; i < depth; i++) {
    sp_received_line line = {.line = (int64_t)i + 1};

    line.function =
        sp_received_add_function(profile, fixture_text(profile, "f"),
                                 fixture_text(profile, "app.rb"), 1);
    places[i] = sp_received_add_location(profile, &line, 1, 0);
  }
  for (i = 0; i < count; i++) {
    sp_received_sample sample = {.stack = 0};

    for (j = depth - 1; j > 0; j--) { /* shuffle */
      const size_t other = (random = random * 1103515245 + 12345) / 256 % j;
      const uint32_t place = places[j];

      places[j] = places[other];
      places[other] = place;
    }
    sample.stack = sp_received_add_stack(profile, places, (uint32_t)depth);
    sp_received_add_sample(profile, &sample, &value);
  }
}

static inline void fixture_put(sp_store *store, sp_received *profile) {
  const sp_received *const one = profile;

  CHECK(!sp_received_status(profile));
  if (sp_store_put(store, &one, 1, NULL))
    check_texts(__FILE__, __LINE__, "put", spanprof_last_error(), "kept");
  sp_received_free(profile);
}

/* Select all CPU profiles. */
static inline sp_selector fixture_all(void) {
  return (sp_selector){.until_ms = INT64_MAX / 2000000,
                       .profile_type = FIXTURE_TYPE};
}

/* Return the sum of a selection's stacks. If `leaf` is not NULL, only stacks
 * with this innermost function count. */
static inline int64_t fixture_sum(sp_store *store, const sp_selector *selector,
                                  const char *leaf) {
  sp_stack_tree *tree;
  int64_t sum = 0;
  size_t i;

  if (sp_store_stacks(store, selector, &tree))
    check_texts(__FILE__, __LINE__, "stacks", spanprof_last_error(), "a tree");
  for (i = 0; i < tree->node_count; i++) {
    const sp_tree_location *place =
        i ? &tree->locations[tree->nodes[i].location] : NULL;

    CHECK(i == 0 || tree->nodes[i].parent < i);
    if (!leaf ||
        (place &&
         strcmp(tree->functions[place->lines[0].function].name, leaf) == 0))
      sum += tree->nodes[i].self;
  }
  sp_stack_tree_free(tree);
  return sum;
}

#endif
