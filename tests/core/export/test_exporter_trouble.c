/* The exporter with servers that refuse profiles, fail, or cannot be reached.
 */
#include "exporter_fixture.h"

static void refused_profiles_are_dropped_immediately(void) {
  static const int statuses[] = {400, 413, 415, 422, 501};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(statuses); i++) {
    sp_exporter *exporter;

    begin(1);
    sink_control(&sink, "{\"mode\": \"status\", \"status\": %d, \"count\": 2}",
                 statuses[i]);
    exporter = exporter_of(&sp_mem_default);
    push(exporter);
    push(exporter);
    push(exporter);
    CHECK(!sp_exporter_flush(exporter, in_s(20)));
    CHECK_EQUAL(sink_number(&sink, "requests"), 3);
    CHECK_EQUAL(sink_number(&sink, "profiles"), 1);
    CHECK_EQUAL(stats().profiles_dropped, 2);
    CHECK_EQUAL(stats().profiles_retried, 0);
    CHECK(stats().samples_dropped_export > 0);
    /* A warning of one kind is logged at most once a minute. */
    CHECK_EQUAL(logged_count("the profile is dropped"), 1);
    stop(exporter, SPANPROF_OK);
  }
}

static void temporary_failures_lose_nothing(void) {
  static const char *const modes[] = {
      "{\"mode\": \"status\", \"status\": 429, \"count\": 3}",
      "{\"mode\": \"status\", \"status\": 429, \"retry_after\": 20, "
      "\"count\": 1}",
      "{\"mode\": \"status\", \"status\": 429, \"retry_after\": "
      "\"Fri, 31 Dec 1999 23:59:59 GMT\", \"count\": 1}",
      "{\"mode\": \"status\", \"status\": 500, \"count\": 4}",
      "{\"mode\": \"status\", \"status\": 503, \"count\": 12}",
      "{\"mode\": \"status\", \"status\": 502, \"count\": 3}",
      "{\"mode\": \"close\", \"count\": 3}",
      "{\"mode\": \"close_body\", \"count\": 3}",
      "{\"mode\": \"cut_request\", \"count\": 3}",
      "{\"mode\": \"garbage\", \"count\": 3}",
      "{\"mode\": \"hang\", \"count\": 1}",
      "{\"mode\": \"slow\", \"seconds\": 0.02, \"count\": 3}",
      "{\"mode\": \"endless\", \"count\": 1}",
      "{\"mode\": \"hang_stored\", \"count\": 1}",
      "{\"mode\": \"chunked\", \"count\": 3}",
  };
  size_t i, j;

  for (i = 0; i < SP_COUNT_OF(modes); i++) {
    sp_exporter *exporter;

    begin(20);
    sink_control(&sink, "%s", modes[i]);
    exporter = exporter_of(&sp_mem_default);
    for (j = 0; j < 5; j++)
      push(exporter);
    for (j = 0; j < 3000 && stats().samples_pending; j++)
      pass_s(1);
    CHECK_EQUAL(sink_number(&sink, "profiles"), 5);
    CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
    CHECK_EQUAL(stats().samples_exported, pushed_samples);
    stop(exporter, SPANPROF_OK);
  }
}

static void a_bad_profile_does_not_block_others(void) {
  sp_encoded bad = {.bytes = sp_mem_text(&sp_mem_default, "nonsense", 8),
                    .size = 8,
                    .mem = &sp_mem_default,
                    .samples = 3,
                    .ticks = 3};
  sp_exporter *exporter;
  int i;

  begin(1);
  exporter = exporter_of(&sp_mem_default);
  bad.time_ns = sp_clock_unix_ns(&test_time.clock);
  sp_count(&sp_counts.samples_taken, 3);
  pushed_samples += 3;
  pushed_ticks += 3;
  sp_exporter_push(exporter, &bad);
  for (i = 0; i < 5; i++)
    push(exporter);
  for (i = 0; i < 300 && stats().samples_pending; i++)
    pass_s(1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 5);
  /* The profile is sent five times, because a server that is starting also
   * answers 500. */
  CHECK_EQUAL(sink_number(&sink, "answers/500"), 5);
  CHECK_EQUAL(stats().samples_dropped_export, 3);
  CHECK_EQUAL(stats().profiles_retried, 4);
  stop(exporter, SPANPROF_OK);
}

/* Failures that are repairable: the server's answer may change with new
 * credentials, another address or a new version of the server. */
static const char *const repairable_modes[] = {
    "{\"mode\": \"status\", \"status\": 401}",
    "{\"mode\": \"status\", \"status\": 403}",
    "{\"mode\": \"status\", \"status\": 404}",
    "{\"mode\": \"status\", \"status\": 407}",
    "{\"mode\": \"redirect\"}",
    "{\"mode\": \"html\"}",
    "{\"mode\": \"html\", \"bytes\": 300000}",
};

static void repairable_failures_lose_nothing(void) {
  size_t i;
  int j;

  for (i = 0; i < SP_COUNT_OF(repairable_modes); i++) {
    sp_exporter *exporter;
    long long requests;

    begin(1);
    sink_control(&sink, "%s", repairable_modes[i]);
    exporter = exporter_of(&sp_mem_default);
    for (j = 0; j < 60; j++) {
      push(exporter);
      pass_s(10);
    }
    /* Ten minutes have passed, with a request every 30 to 60 s. */
    requests = sink_number(&sink, "requests");
    CHECK(requests >= 10 && requests <= 21);
    CHECK_EQUAL(stats().profiles_dropped, 0);
    CHECK_EQUAL(sink_number(&sink, "profiles"), 0);
    CHECK(logged_count("profiles are kept") >= 5);
    CHECK(logged_count("profiles are kept") <= 10);
    sink_control(&sink, "{\"mode\": \"ok\"}");
    pass_s(61);
    CHECK_EQUAL(sink_number(&sink, "profiles"), 60);
    CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
    CHECK_EQUAL(stats().samples_exported, pushed_samples);
    stop(exporter, SPANPROF_OK);
  }
}

/* The profiles wait in the spool, because often only a new process has new
 * credentials. */
static void repairable_failures_wait_in_the_spool(void) {
  size_t i;
  int j;

  for (i = 0; i < SP_COUNT_OF(repairable_modes); i++) {
    char directory[64];
    sp_exporter *exporter;

    begin(1);
    test_settings.spool_directory = directory_new(directory);
    sink_control(&sink, "%s", repairable_modes[i]);
    exporter = exporter_of(&sp_mem_default);
    for (j = 0; j < 5; j++)
      push(exporter);
    pass_s(1);
    CHECK_EQUAL(stats().profiles_spooled, 5);
    CHECK_EQUAL(sink_number(&sink, "requests"), 1);
    pass_s(600);
    CHECK_EQUAL(stats().profiles_dropped, 0);
    sink_control(&sink, "{\"mode\": \"ok\"}");
    pass_s(61);
    CHECK_EQUAL(sink_number(&sink, "profiles"), 5);
    CHECK_EQUAL(stats().samples_exported, pushed_samples);
    stop(exporter, SPANPROF_OK);
    CHECK_EQUAL(directory_count(directory, ""), 0);
    directory_remove(directory);
  }
}

static void repairable_failures_expire(void) {
  sp_exporter *exporter;

  begin(1);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 403}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  pass_s(2600);
  CHECK_EQUAL(stats().profiles_dropped, 0);
  pass_s(200);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  CHECK_EQUAL(stats().samples_dropped_export, pushed_samples);
  stop(exporter, SPANPROF_OK);
}

static void a_page_does_not_acknowledge_an_ingest_upload(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.protocol = SP_PROTOCOL_INGEST;
  sink_control(&sink, "{\"mode\": \"html\"}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  pass_s(5);
  CHECK_EQUAL(stats().profiles_sent, 0);
  CHECK_EQUAL(logged_count("not Pyroscope"), 1);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  pass_s(61);
  CHECK_EQUAL(stats().profiles_sent, 1);
  stop(exporter, SPANPROF_OK);
}

/* If a flush returns SPANPROF_OK, no profile is pending. If profiles are
 * pending, it returns SPANPROF_ERR_TIMEOUT. */
static void a_flush_reports_whether_all_is_delivered(void) {
  char directory[64];
  sp_exporter *exporter;

  begin(1);
  test_settings.server_address = (char *)"http://127.0.0.1:1";
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK_EQUAL(sp_exporter_flush(exporter, now_ns() + 200 * SP_NS_PER_MS),
              SPANPROF_ERR_TIMEOUT);
  CHECK_EQUAL(stats().samples_pending, pushed_samples);
  stop(exporter, SPANPROF_ERR_TIMEOUT);

  begin(1);
  test_settings.server_address = (char *)"http://127.0.0.1:1";
  test_settings.spool_directory = directory_new(directory);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(stats().profiles_spooled, 2);
  stop(exporter, SPANPROF_OK);
  directory_remove(directory);

  begin(1);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503, "
                      "\"count\": 1}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(stats().samples_pending, 0);
  stop(exporter, SPANPROF_OK);
}

static void half_an_hour_of_outage_loses_nothing(void) {
  sp_exporter *exporter;
  long long requests;
  int i;

  begin(1);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  for (i = 0; i < 180; i++) {
    push(exporter);
    pass_s(10);
  }
  requests = sink_number(&sink, "answers/503");
  /* Half an hour has passed, with a request after each backoff of 0.5 to 10 s,
   * on average 5.25 s. */
  CHECK(requests >= 180 && requests <= 1000);
  CHECK_EQUAL(stats().samples_dropped_export, 0);
  CHECK(stats().samples_pending > 0);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  for (i = 0; i < 600 && stats().samples_pending; i++)
    pass_s(1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 181);
  CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
  CHECK(stats().profiles_retried > 0);
  CHECK_EQUAL(logged_count("work again"), 1);
  /* There was one warning a minute. */
  CHECK(logged_count("answered 503") >= 20);
  CHECK(logged_count("answered 503") <= 35);
  stop(exporter, SPANPROF_OK);
}

static void after_45_minutes_profiles_are_given_up(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.server_address = (char *)"http://127.0.0.1:1";
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  pass_s(2000);
  CHECK_EQUAL(stats().samples_dropped_export, 0);
  pass_s(1000);
  CHECK_EQUAL(stats().samples_dropped_export, pushed_samples);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  stop(exporter, SPANPROF_OK);
}

/* The jump is less than an hour, because the server's clock jumps, too, and it
 * refuses profiles that are an hour old. */
static void a_clock_jump_drops_nothing(void) {
  sp_exporter *exporter;

  begin(1);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  pass_s(30);
  test_time.unix_ns += 3000 * SP_NS_PER_S;
  pass_s(30);
  CHECK_EQUAL(stats().profiles_dropped, 0);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  pass_s(30);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  stop(exporter, SPANPROF_OK);
}

static void the_queue_is_bounded(void) {
  sp_exporter *exporter;
  uint64_t dropped;
  int i;

  begin(1);
  test_settings.queue_bytes = 100000;
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 50; i++)
    push_sized(exporter, 10000);
  dropped = stats().profiles_dropped;
  CHECK(dropped >= 30 && dropped <= 45);
  CHECK(logged_count("queue_bytes") >= 1);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  stop(exporter, SPANPROF_OK);
  /* The oldest profiles were dropped, the newest ones are sent. */
  CHECK_EQUAL(sink_number(&sink, "profiles"), 50 - (long long)dropped);
}

static void uploads_beyond_the_queue_limit_are_spooled(void) {
  char directory[64];
  sp_exporter *exporter;
  int i;

  begin(1);
  test_settings.queue_bytes = 65536;
  test_settings.spool_directory = directory_new(directory);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 40; i++) {
    push_sized(exporter, 10000);
    pass_s(1);
  }
  for (i = 0; i < 100 && stats().profiles_spooled < 30; i++)
    pass_s(1);
  CHECK(stats().profiles_spooled >= 30);
  CHECK_EQUAL(stats().profiles_dropped, 0);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  for (i = 0; i < 600 && stats().samples_pending; i++)
    pass_s(1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 40);
  CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void the_next_process_sends_profiles_spooled_at_a_stop(void) {
  char directory[64];
  uint64_t first_cpu_ns;
  sp_exporter *exporter;
  int i;

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 5; i++)
    push(exporter);
  /* The stop returns SPANPROF_OK, because the profiles were delivered to the
   * spool. */
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  CHECK_EQUAL(stats().profiles_spooled, 5);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 0);
  first_cpu_ns = pushed_cpu_ns;

  sink_control(&sink, "{\"mode\": \"ok\"}");
  sp_counters_reset();
  pushed_samples = pushed_ticks = 0;
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  for (i = 0; i < 500 && stats().profiles_sent < 6; i++) {
    struct timespec wait = {0, 10000000};

    nanosleep(&wait, NULL);
  }
  CHECK_EQUAL(stats().profiles_sent, 6);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  CHECK(first_cpu_ns < pushed_cpu_ns);
  CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"refused_profiles_are_dropped_immediately",
       refused_profiles_are_dropped_immediately},
      {"temporary_failures_lose_nothing", temporary_failures_lose_nothing},
      {"a_bad_profile_does_not_block_others",
       a_bad_profile_does_not_block_others},
      {"repairable_failures_lose_nothing", repairable_failures_lose_nothing},
      {"repairable_failures_wait_in_the_spool",
       repairable_failures_wait_in_the_spool},
      {"repairable_failures_expire", repairable_failures_expire},
      {"a_page_does_not_acknowledge_an_ingest_upload",
       a_page_does_not_acknowledge_an_ingest_upload},
      {"a_flush_reports_whether_all_is_delivered",
       a_flush_reports_whether_all_is_delivered},
      {"half_an_hour_of_outage_loses_nothing",
       half_an_hour_of_outage_loses_nothing},
      {"after_45_minutes_profiles_are_given_up",
       after_45_minutes_profiles_are_given_up},
      {"a_clock_jump_drops_nothing", a_clock_jump_drops_nothing},
      {"the_queue_is_bounded", the_queue_is_bounded},
      {"uploads_beyond_the_queue_limit_are_spooled",
       uploads_beyond_the_queue_limit_are_spooled},
      {"the_next_process_sends_profiles_spooled_at_a_stop",
       the_next_process_sends_profiles_spooled_at_a_stop},
  };
  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
