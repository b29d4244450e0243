/* An upload that is repeated counts once, but different content is stored. This
 * holds for profiles before and after compaction, and in a store of an earlier
 * version. */
#include "store_fixture.h"

static const sp_trace_id no_trace = {0, 0};

/* Store a profile. Returns whether the store already had it. */
static bool put_again(sp_store *store, int64_t time_ns, int64_t value) {
  sp_received *profile = fixture_profile("shop", time_ns);
  const sp_received *const one = profile;
  bool repeated;

  fixture_sample(profile, "main;work", "GET /", 7, no_trace, value);
  if (sp_store_put(store, &one, 1, &repeated))
    check_texts(__FILE__, __LINE__, "put", spanprof_last_error(), "kept");
  sp_received_free(profile);
  return repeated;
}

static void a_retry_counts_once(void) {
  const sp_selector selector = fixture_all();
  sp_store *store;
  int64_t i;

  fixture_begin();
  store = fixture_open();
  for (i = 0; i < 200; i++)
    CHECK(!put_again(store, FIXTURE_TIME, i + 1));
  CHECK(!put_again(store, FIXTURE_TIME + 1, 1));
  for (i = 0; i < 200; i++)
    CHECK(put_again(store, FIXTURE_TIME, i + 1));
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM block"));
  for (i = 0; i < 200; i++)
    CHECK(put_again(store, FIXTURE_TIME, i + 1));
  CHECK(!put_again(store, FIXTURE_TIME, 1000));
  CHECK(put_again(store, FIXTURE_TIME, 1000));
  CHECK_EQUAL(200 * 201 / 2 + 1 + 1000, fixture_sum(store, &selector, NULL));
  sp_store_close(store);
  fixture_end();
}

/* A store of version 2 has no digests, by which repeated profiles are found. */
static void a_repeated_profile_of_an_earlier_version_is_found(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  CHECK(!put_again(store, FIXTURE_TIME, 1));
  sp_store_close(store);
  fixture_run(
      "DROP INDEX block_digest; DROP INDEX block_heads;"
      "DROP INDEX span_root; DROP INDEX span_trace_root; DROP TABLE rootless;"
      "ALTER TABLE block DROP COLUMN digest;" FIXTURE_WITHOUT_RUNS
      "PRAGMA user_version=2;");
  store = fixture_open();
  CHECK_EQUAL(6, fixture_number("PRAGMA user_version"));
  CHECK(put_again(store, FIXTURE_TIME, 1));
  CHECK(!put_again(store, FIXTURE_TIME, 2));
  CHECK(put_again(store, FIXTURE_TIME, 2));
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM block"));
  CHECK(put_again(store, FIXTURE_TIME, 1));
  CHECK(put_again(store, FIXTURE_TIME, 2));
  sp_store_close(store);
  fixture_end();
}

/* Storing a profile must not read other profiles of the same time, because for
 * a thousand of them this would need a million comparisons. In this test, the
 * other profiles cannot be read. */
static void other_profiles_of_the_same_time_are_not_read(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  CHECK(!put_again(store, FIXTURE_TIME, 1));
  fixture_run("UPDATE block SET head=zeroblob(1)");
  CHECK(!put_again(store, FIXTURE_TIME, 2));
  CHECK(put_again(store, FIXTURE_TIME, 2));
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_retry_counts_once", a_retry_counts_once},
      {"a_repeated_profile_of_an_earlier_version_is_found",
       a_repeated_profile_of_an_earlier_version_is_found},
      {"other_profiles_of_the_same_time_are_not_read",
       other_profiles_of_the_same_time_are_not_read},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
