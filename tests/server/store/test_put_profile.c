#include "store_fixture.h"

#include <server/store/put_profile.h>

static sqlite3 *db;
static sp_intern intern;
static sp_log_bound no_bound;

static void begin(void) {
  fixture_begin();
  CHECK(!sp_database_create(&db, fixture_path, 0));
  sp_intern_init(&intern, &sp_mem_default, db, &no_bound);
  CHECK(!sp_database_run(db, "BEGIN"));
}

static void end(void) {
  sp_intern_dispose(&intern);
  sqlite3_close(db);
  fixture_end();
}

static int64_t number_of(const char *sql) {
  int64_t number;

  CHECK(!sp_database_number(db, sql, &number));
  return number;
}

static sp_received *profile_of(const char *frames) {
  const sp_trace_id no_trace = {0, 0};
  sp_received *profile = fixture_profile("shop", FIXTURE_TIME);

  fixture_sample(profile, frames, "GET /", 7, no_trace, 1);
  fixture_sample(profile, "main", "GET /", 8, no_trace, 1);
  CHECK(!sp_received_status(profile));
  return profile;
}

static void put_through(const sp_received *profile) {
  sp_put put;

  sp_put_init(&put, &sp_mem_default, &intern, profile);
  CHECK(!sp_put_prepare(&put));
  CHECK(!sp_put_finish(&put));
  CHECK(put.packed);
  sp_put_dispose(&put);
}

static void a_profile_of_known_items_needs_no_writer(void) {
  sp_received *profile = profile_of("main;work");
  sp_put put;

  begin();
  sp_put_init(&put, &sp_mem_default, &intern, profile);
  CHECK(!sp_put_prepare(&put));
  CHECK(!put.packed); /* not packed, because all items are new */
  CHECK_EQUAL(0, number_of(FIXTURE_FRAMES));
  CHECK(!sp_put_finish(&put));
  CHECK(put.packed);
  CHECK_EQUAL(2, number_of(FIXTURE_FRAMES));
  sp_put_dispose(&put);
  sp_put_init(&put, &sp_mem_default, &intern, profile);
  CHECK(!sp_put_prepare(&put));
  CHECK(put.packed);
  CHECK(put.source && put.profile.hash);
  sp_put_dispose(&put);
  sp_received_free(profile);
  end();
}

/* In a profile with one new stack, the ids of all known items are found before
 * the writer runs, and do not change. */
static void the_writer_adds_new_items(void) {
  sp_received *known = profile_of("main;work"), *more = profile_of("main;new");
  sp_put put;

  begin();
  put_through(known);
  sp_put_init(&put, &sp_mem_default, &intern, more);
  CHECK(!sp_put_prepare(&put));
  CHECK(!put.packed);
  CHECK(put.source != 0);
  CHECK(!sp_put_finish(&put));
  CHECK_EQUAL(3, number_of(FIXTURE_FRAMES));
  CHECK_EQUAL(1, number_of("SELECT count(*) FROM source"));
  CHECK_EQUAL(1, number_of("SELECT count(*) FROM series"));
  sp_put_dispose(&put);
  sp_received_free(known);
  sp_received_free(more);
  end();
}

/* The ids that a transaction has given out are invalid after it was rolled
 * back. */
static void ids_of_rolled_back_rows_are_not_used(void) {
  sp_received *other = profile_of("main;other"), *late;
  sp_put put;

  late = profile_of("main;work");
  begin();
  CHECK(!sp_database_run(db, "SAVEPOINT job"));
  put_through(late);
  sp_put_init(&put, &sp_mem_default, &intern, late);
  CHECK(!sp_put_prepare(&put));
  CHECK(put.packed);
  CHECK(!sp_database_run(db, "ROLLBACK TO job"));
  sp_intern_forget(&intern);
  CHECK_EQUAL(0, number_of(FIXTURE_FRAMES));
  put_through(other); /* gets the ids that were given out before */
  CHECK(!sp_put_finish(&put));
  CHECK_EQUAL(3, number_of(FIXTURE_FRAMES));
  CHECK_EQUAL(3, number_of("SELECT count(*) FROM location"));
  sp_put_dispose(&put);
  sp_received_free(other);
  sp_received_free(late);
  end();
}

/* The profile has 2,000 new stacks of 100 frames, which need four rows each.
 * The writer looks for, or inserts, about 4,096 rows at a time. */
static void a_large_profile_gets_ids_in_parts(void) {
  sp_received *profile = fixture_profile("shop", FIXTURE_TIME);
  uint64_t queries_before;
  size_t parts = 0;
  sp_put put;
  bool more = true;

  fixture_deep_stacks(profile, 100, 2000);
  CHECK(!sp_received_status(profile));
  begin();
  sp_put_init(&put, &sp_mem_default, &intern, profile);
  CHECK(!sp_put_prepare(&put));
  CHECK(sp_put_is_large(&put));
  for (; more; parts++) {
    queries_before = intern.queries;
    CHECK(!sp_put_learn(&put, &more));
    CHECK(intern.queries - queries_before < 5000);
  }
  CHECK(parts >= 3);
  CHECK(number_of(FIXTURE_FRAMES) > 190000);
  CHECK(!sp_put_pack(&put));
  queries_before = intern.queries;
  CHECK(!sp_put_finish(&put));
  CHECK(put.packed);
  CHECK_EQUAL(queries_before, intern.queries);
  sp_put_dispose(&put);
  /* All items have ids now. The cache did not grow so much that entries of
   * other profiles were evicted. */
  CHECK(intern.now.count < 5000);
  sp_put_init(&put, &sp_mem_default, &intern, profile);
  CHECK(!sp_put_prepare(&put));
  CHECK(put.packed && !sp_put_is_large(&put));
  sp_put_dispose(&put);
  sp_received_free(profile);
  end();
}

/* The largest possible id of a series is in use. Known series are still found,
 * but new ones are refused. They get ids again after the series with the
 * largest id is deleted. */
static void a_store_without_ids_for_series_refuses(void) {
  sp_received *known = profile_of("main;work");
  sp_received *more = fixture_profile("shop", FIXTURE_TIME);
  const sp_trace_id no_trace = {0, 0};
  sp_put put;

  fixture_sample(more, "main", "GET /new", 7, no_trace, 1);
  begin();
  put_through(known);
  CHECK(
      !sp_database_run(db, "INSERT INTO series VALUES(4294967295, 1, x'00')"));
  sp_intern_forget(&intern);
  put_through(known);
  CHECK(!sp_database_run(db, "SAVEPOINT job"));
  sp_put_init(&put, &sp_mem_default, &intern, more);
  CHECK(!sp_put_prepare(&put));
  CHECK_EQUAL(SPANPROF_ERR_LIMIT, sp_put_finish(&put));
  CHECK(strstr(spanprof_last_error(), "no ids left for new series"));
  CHECK(strstr(spanprof_last_error(), "move its database away"));
  sp_put_dispose(&put);
  CHECK(!sp_database_run(db, "ROLLBACK TO job"));
  sp_intern_forget(&intern);
  CHECK(!sp_database_run(db, "DELETE FROM series WHERE id=4294967295"));
  put_through(more);
  sp_received_free(known);
  sp_received_free(more);
  end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_store_without_ids_for_series_refuses",
       a_store_without_ids_for_series_refuses},
      {"a_large_profile_gets_ids_in_parts", a_large_profile_gets_ids_in_parts},
      {"a_profile_of_known_items_needs_no_writer",
       a_profile_of_known_items_needs_no_writer},
      {"the_writer_adds_new_items", the_writer_adds_new_items},
      {"ids_of_rolled_back_rows_are_not_used",
       ids_of_rolled_back_rows_are_not_used},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
