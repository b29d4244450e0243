/* A damaged block does not stop maintenance. */
#include "store_fixture.h"

#define APPLICATIONS 600 /* so many that their blocks get a wide filter */

static const sp_trace_id no_trace = {0, 0};

static void count_line(void *data, spanprof_log_level level, const char *line) {
  (void)level;
  if (strstr(line, "damaged"))
    ++*(int *)data;
}

static void put(sp_store *store, const char *service, int64_t time_ns,
                uint64_t span_id) {
  sp_received *profile = fixture_profile(service, time_ns);

  fixture_sample(profile, "main;work", "GET /", span_id, no_trace, 1);
  fixture_put(store, profile);
}

static void tidy(sp_store *store) {
  CHECK(!sp_store_compact(store));
  CHECK(!sp_store_collect(store));
}

static void a_damaged_block_is_skipped(void) {
  sp_selector selector = fixture_all();
  sp_store_stats stats;
  char service[24];
  sp_store *store;
  int line_count = 0, i;

  fixture_begin();
  sp_log_init(&fixture_log, count_line, &line_count, SPANPROF_LOG_WARN,
              sp_clock_system());
  store = fixture_open();
  for (i = 0; i < APPLICATIONS; i++) {
    snprintf(service, sizeof service, "app-%d", i);
    put(store, service, FIXTURE_TIME, (uint64_t)i + 1);
  }
  for (i = 0; i < 10; i++)
    put(store, "shop", FIXTURE_TIME + 7200 * FIXTURE_SECOND + i, 7);
  /* Damage the block of one application, and the second block of "shop". */
  fixture_run("UPDATE block SET spans=zeroblob(1) WHERE id=7");
  fixture_run("UPDATE block SET body=zeroblob(1) WHERE id=602");
  fixture_run("INSERT INTO text(text) VALUES('of nothing')");
  tidy(store);
  CHECK_EQUAL(1, fixture_number("SELECT count(*) FROM wide_filter"));
  CHECK_EQUAL(2, fixture_number("SELECT count(*) FROM block WHERE id>600"));
  CHECK_EQUAL(9, fixture_number("SELECT max(profiles) FROM block"));
  CHECK_EQUAL(0, fixture_number("SELECT count(*) FROM text WHERE text='of "
                                "nothing'"));
  tidy(store);
  CHECK_EQUAL(2, line_count);
  CHECK(!sp_store_get_stats(store, &stats));
  CHECK_EQUAL(2, stats.damaged_blocks);
  selector.matchers = &(const sp_matcher){
      .kind = SP_MATCH_EQUAL, .name = "service_name", .value = "app-500"};
  selector.matcher_count = 1;
  CHECK_EQUAL(1, fixture_sum(store, &selector, "work"));
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_damaged_block_is_skipped", a_damaged_block_is_skipped},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
