/* Wide filters, which cover many blocks. They never exclude a block that has
 * the id, and blocks that they exclude are not read. */
#include "store_fixture.h"

/* So many that their blocks have two wide filters. Each block belongs to an
 * application of its own, so that the blocks are not compacted together. */
#define APPLICATIONS 1100

static uint64_t span_of(int number) {
  return (uint64_t)number * 0x9e3779b97f4a7c15u + 5;
}

static sp_trace_id trace_of(int number) {
  return (sp_trace_id){span_of(number) ^ 77, (uint64_t)number + 1};
}

/* Return a profile of one sample with the value `number` + 1, and with a span
 * and a trace whose ids depend on `number`. */
static sp_received *profile_of(int number, int64_t time_ns) {
  sp_received *profile;
  char service[16];

  snprintf(service, sizeof service, "app-%d", number);
  profile = fixture_profile(service, time_ns);
  fixture_sample(profile, "main;work", "GET /", span_of(number),
                 trace_of(number), number + 1);
  return profile;
}

static void put_all(sp_store *store, int64_t time_ns) {
  static const sp_received *all[APPLICATIONS];
  int i;

  for (i = 0; i < APPLICATIONS; i++)
    all[i] = profile_of(i, time_ns);
  CHECK(!sp_store_put(store, all, APPLICATIONS, NULL));
  for (i = 0; i < APPLICATIONS; i++)
    sp_received_free((sp_received *)all[i]);
}

static int64_t sum_of_span(sp_store *store, uint64_t span_id) {
  sp_selector selector = fixture_all();

  selector.span_ids = &span_id;
  selector.span_count = 1;
  return fixture_sum(store, &selector, NULL);
}

static int64_t sum_of_trace(sp_store *store, sp_trace_id trace) {
  sp_selector selector = fixture_all();

  selector.trace_ids = &trace;
  selector.trace_count = 1;
  return fixture_sum(store, &selector, NULL);
}

static int64_t sum_of_matcher(sp_store *store, uint64_t span_id) {
  char digits[17];
  const sp_matcher matcher = {
      .kind = SP_MATCH_EQUAL, .name = "profile_id", .value = digits};
  sp_selector selector = fixture_all();

  snprintf(digits, sizeof digits, "%016llx", (unsigned long long)span_id);
  selector.matchers = &matcher;
  selector.matcher_count = 1;
  return fixture_sum(store, &selector, NULL);
}

static void check_every_id(sp_store *store) {
  int i;

  for (i = 0; i < APPLICATIONS; i += 110) {
    CHECK_EQUAL(i + 1, sum_of_span(store, span_of(i)));
    CHECK_EQUAL(i + 1, sum_of_trace(store, trace_of(i)));
    CHECK_EQUAL(i + 1, sum_of_matcher(store, span_of(i)));
  }
}

static void every_id_is_found_through_wide_filters(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_all(store, FIXTURE_TIME);
  check_every_id(store);
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM wide_filter"));
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(2, fixture_number("SELECT count(*) FROM wide_filter"));
  check_every_id(store);
  /* Newer blocks, which have no wide filter yet, are also found. */
  fixture_put(store, profile_of(APPLICATIONS, FIXTURE_TIME));
  CHECK_EQUAL(APPLICATIONS + 1, sum_of_span(store, span_of(APPLICATIONS)));
  CHECK_EQUAL(0, sum_of_span(store, span_of(APPLICATIONS + 1)));
  sp_store_close(store);
  store = fixture_open();
  check_every_id(store);
  sp_store_close(store);
  fixture_end();
}

/* In this test, the blocks' own filters accept every id, and the heads of the
 * blocks cannot be read. */
static void blocks_excluded_by_wide_filters_are_not_read(void) {
  const uint64_t unknown = span_of(APPLICATIONS + 1);
  sp_selector selector = fixture_all();
  char ones[2 * 64 + 1] = "", sql[300];
  sp_stack_tree *tree;
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_all(store, FIXTURE_TIME);
  CHECK(!sp_store_compact(store));
  sp_store_close(store);
  memset(ones, 'f', sizeof ones - 1);
  snprintf(sql, sizeof sql,
           "UPDATE block SET head=x'ffff', filter=x'%s' WHERE id<=(SELECT "
           "max(last_block) FROM wide_filter)",
           ones);
  fixture_run(sql);
  store = fixture_open();
  CHECK_EQUAL(0, sum_of_span(store, unknown));
  CHECK_EQUAL(0, sum_of_matcher(store, unknown));
  selector.span_ids = &(const uint64_t){span_of(1)};
  selector.span_count = 1;
  CHECK_EQUAL(SPANPROF_ERR_FORMAT, sp_store_stacks(store, &selector, &tree));
  sp_store_close(store);
  fixture_end();
}

static void wide_filters_are_deleted_with_their_blocks(void) {
  const int64_t now = (int64_t)sp_clock_unix_ns(sp_clock_system());
  const int64_t old = now - 7200 * FIXTURE_SECOND;
  sp_store *store;
  int64_t last;

  fixture_begin();
  store = fixture_open();
  put_all(store, old);
  CHECK(!sp_store_compact(store));
  last = fixture_number("SELECT max(last_block) FROM wide_filter");
  sp_store_close(store);
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  store = fixture_open();
  CHECK(!sp_store_drop_old(store));
  /* The number of a deleted block is not reused while a wide filter covers
   * it. */
  fixture_put(store, profile_of(3, now));
  CHECK(fixture_number("SELECT min(id) FROM block") > last);
  CHECK_EQUAL(4, sum_of_span(store, span_of(3)));
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM wide_filter"));
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM wide_filter_piece"));
  CHECK_EQUAL(4, sum_of_span(store, span_of(3)));
  sp_store_close(store);
  fixture_end();
}

static void blocks_to_be_compacted_get_no_wide_filter(void) {
  const int64_t now = (int64_t)sp_clock_unix_ns(sp_clock_system());
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_all(store, now - 60 * FIXTURE_SECOND);
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM wide_filter"));
  check_every_id(store);
  sp_store_close(store);
  fixture_end();
}

/* A store of version 1 has no wide filters and no digests, but otherwise the
 * same tables. */
static void a_store_of_version_1_gets_wide_filters(void) {
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  put_all(store, FIXTURE_TIME);
  sp_store_close(store);
  fixture_run(
      "DROP TABLE wide_filter; DROP TABLE wide_filter_piece;"
      "DROP INDEX block_digest; DROP INDEX block_heads;"
      "DROP INDEX span_root; DROP INDEX span_trace_root; DROP TABLE rootless;"
      "ALTER TABLE block DROP COLUMN digest;" FIXTURE_WITHOUT_RUNS
      "PRAGMA user_version=1;");
  store = fixture_open();
  CHECK_EQUAL(6, fixture_number("PRAGMA user_version"));
  check_every_id(store);
  CHECK(!sp_store_compact(store));
  CHECK_EQUAL(2, fixture_number("SELECT count(*) FROM wide_filter"));
  check_every_id(store);
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"every_id_is_found_through_wide_filters",
       every_id_is_found_through_wide_filters},
      {"blocks_excluded_by_wide_filters_are_not_read",
       blocks_excluded_by_wide_filters_are_not_read},
      {"wide_filters_are_deleted_with_their_blocks",
       wide_filters_are_deleted_with_their_blocks},
      {"blocks_to_be_compacted_get_no_wide_filter",
       blocks_to_be_compacted_get_no_wide_filter},
      {"a_store_of_version_1_gets_wide_filters",
       a_store_of_version_1_gets_wide_filters},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
