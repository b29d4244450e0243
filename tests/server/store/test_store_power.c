/* The power fails while the store writes. Whichever of the unsynced bytes the
 * disk has afterwards, the store can be opened, and has all profiles of
 * successful calls.
 *
 * A power cut is simulated by a copy of the files with a content that the disk
 * may have. The store continues to run, so one run has many cuts. SPANPROF_CUTS
 * is the number of cuts: 30 by default, 5 with a sanitizer. */
#include "store_fixture.h"

#include <pthread.h>
#include <sqlite3.h>

#include "power_vfs.h"

#define POWER_THREADS  3
#define POWER_PROFILES 200000 /* most profiles in one run */
#define POWER_RUN_CUTS 10

/* The chances, in %, that an unsynced sector is on the disk. */
static const unsigned power_chances[] = {0, 50, 97, 100, 10};

static struct {
  sp_store *store;
  atomic_bool ending;
  atomic_uint next;                       /* number of the next profile */
  atomic_uchar confirmed[POWER_PROFILES]; /* 1 if the profile's call
                                           * succeeded */
} run;

static void *power_put(void *argument) {
  const sp_trace_id no_trace = {0, 0};

  (void)argument;
  while (!atomic_load(&run.ending)) {
    const unsigned number = atomic_fetch_add(&run.next, 1);
    char frames[64];
    sp_received *profile;

    if (number >= POWER_PROFILES)
      return NULL;
    profile = fixture_profile(number % 2 ? "shop" : "stock",
                              FIXTURE_TIME + (int64_t)number * 1000000);
    snprintf(frames, sizeof frames, "main;work_%u;part_%u", number % 97,
             number % 1009);
    fixture_sample(profile, frames, "GET /", number + 1, no_trace, 1);
    fixture_put(run.store, profile);
    atomic_store(&run.confirmed[number], 1);
  }
  return NULL;
}

typedef struct power_seen {
  uint8_t *profiles; /* [number]: 1 if the profile was seen */
  size_t count;
} power_seen;

static bool power_see(void *data, const sp_store_point *point) {
  power_seen *seen = data;
  const int64_t number = (point->time_ns - FIXTURE_TIME) / 1000000;

  CHECK(number >= 0 && number < POWER_PROFILES);
  CHECK_EQUAL(0, seen->profiles[number]); /* each profile is returned once */
  CHECK_EQUAL(1, point->value);
  seen->profiles[number] = 1;
  seen->count++;
  return true;
}

static void power_check_file(void) {
  sqlite3_stmt *check;
  sqlite3 *db;

  CHECK_EQUAL(SQLITE_OK, sqlite3_open(fixture_path, &db));
  CHECK_EQUAL(SQLITE_OK,
              sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, 0));
  CHECK_EQUAL(SQLITE_ROW, sqlite3_step(check));
  CHECK_TEXT("ok", (const char *)sqlite3_column_text(check, 0));
  sqlite3_finalize(check);
  sqlite3_close(db);
}

/* Open the store after a power cut, and check that it has all profiles in
 * `confirmed`. */
static void power_check(const uint8_t *confirmed, unsigned confirmed_end) {
  const sp_selector selector = fixture_all();
  power_seen seen = {.profiles = calloc(POWER_PROFILES, 1)};
  sp_store *store = fixture_open();
  unsigned number, lost = 0;

  CHECK(seen.profiles);
  CHECK(!sp_store_points(store, &selector, SP_STORE_POINT_PER_PROFILE,
                         power_see, &seen));
  for (number = 0; number < confirmed_end; number++)
    lost += confirmed[number] && !seen.profiles[number];
  CHECK_EQUAL(0, lost);
  /* The store also has the stacks and names of all profiles. */
  CHECK_EQUAL((int64_t)seen.count, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  power_check_file();
  free(seen.profiles);
}

static void power_one_cut(const char *live, int number, unsigned *random) {
  const unsigned chance = power_chances[number % SP_COUNT_OF(power_chances)];
  unsigned end, i;
  uint8_t *confirmed;

  *random = *random * 1664525u + 1013904223u;
  usleep((*random >> 16) % 40000);
  end = atomic_load(&run.next);
  end = end > POWER_PROFILES ? POWER_PROFILES : end;
  confirmed = malloc(end + 1);
  CHECK(confirmed);
  for (i = 0; i < end; i++)
    confirmed[i] = atomic_load(&run.confirmed[i]);
  snprintf(fixture_path, sizeof fixture_path, "%.40s-cut", live);
  power_cut(fixture_path, chance, random);
  power_check(confirmed, end);
  fixture_end();
  free(confirmed);
}

static void power_run(int cuts, unsigned *random) {
  pthread_t threads[POWER_THREADS];
  char live[64];
  int i;

  fixture_begin();
  snprintf(live, sizeof live, "%s", fixture_path);
  power_begin(live);
  memset(&run, 0, sizeof run);
  run.store = fixture_open();
  for (i = 0; i < POWER_THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, power_put, NULL));
  for (i = 0; i < cuts; i++) {
    power_one_cut(live, i, random);
    if (i % 3 == 2)
      CHECK(!sp_store_compact(run.store));
  }
  atomic_store(&run.ending, true);
  for (i = 0; i < POWER_THREADS; i++)
    pthread_join(threads[i], NULL);
  sp_store_close(run.store);
  power_end();
  snprintf(fixture_path, sizeof fixture_path, "%s", live);
  fixture_end();
}

static void confirmed_profiles_survive_a_power_cut(void) {
  const char *wanted = getenv("SPANPROF_CUTS");
  int cuts = wanted ? atoi(wanted) : CHECK_FORKS ? 30 : 5;
  unsigned random = (unsigned)sp_monotonic_ns();

  printf("first random number: %u\n", random);
  for (; cuts > 0; cuts -= POWER_RUN_CUTS)
    power_run(cuts < POWER_RUN_CUTS ? cuts : POWER_RUN_CUTS, &random);
}

/* This tests power_cut() itself: unsynced bytes are lost, but synced bytes are
 * not. */
static void a_power_cut_loses_unsynced_bytes(void) {
  unsigned random = 1;
  sqlite3_int64 rows = -1;
  sqlite3_stmt *count;
  char cut[80];
  sqlite3 *db;

  fixture_begin();
  power_begin(fixture_path);
  CHECK_EQUAL(SQLITE_OK, sqlite3_open(fixture_path, &db));
  CHECK_EQUAL(SQLITE_OK,
              sqlite3_exec(db,
                           "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                           "CREATE TABLE t(a); INSERT INTO t VALUES(1);"
                           "PRAGMA synchronous=OFF; INSERT INTO t VALUES(2);",
                           NULL, NULL, NULL));
  CHECK(power_syncs() > 0);
  snprintf(cut, sizeof cut, "%.60s-cut", fixture_path);
  power_cut(cut, 0, &random);
  sqlite3_close(db);
  power_end();
  fixture_end();
  CHECK_EQUAL(SQLITE_OK, sqlite3_open(cut, &db));
  CHECK_EQUAL(SQLITE_OK, sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1,
                                            &count, NULL));
  CHECK_EQUAL(SQLITE_ROW, sqlite3_step(count));
  rows = sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  sqlite3_close(db);
  CHECK_EQUAL(1, rows);
  snprintf(fixture_path, sizeof fixture_path, "%.60s", cut);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_power_cut_loses_unsynced_bytes", a_power_cut_loses_unsynced_bytes},
      {"confirmed_profiles_survive_a_power_cut",
       confirmed_profiles_survive_a_power_cut},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
