/* Delivers profiles to the callback, the output directory, the server and the
 * spool, and checks the counts. All tests run on one thread, with a clock that
 * the test advances. */
#include "export/delivery.h"

#include "export/upload/retry.h"
#include "exporter_fixture.h"
#include "failing_locks.h"

static sp_delivery delivery;

static void delivery_begin(void) {
  CHECK(!sp_delivery_init(&delivery, &sp_mem_default, &test_settings,
                          &test_time.clock, &test_log));
}

/* Advance the clock of the test. No other thread reads this clock. */
static void time_pass(uint64_t ns) {
  test_time.jumped_ns += ns;
}

static sp_upload *upload_new(void) {
  const uint64_t time_ns = sp_clock_unix_ns(&test_time.clock);
  sp_encoded part = sample_pprof(&sp_mem_default, time_ns, 3, 30000000, 100);
  sp_upload *upload = sp_upload_new(&sp_mem_default, &part, now_ns());

  CHECK(upload != NULL);
  pushed_samples += upload->part.samples;
  pushed_ticks += upload->part.ticks;
  sp_count(&sp_counts.samples_taken, upload->part.samples);
  sp_count(&sp_counts.ticks_taken, upload->part.ticks);
  return upload;
}

static void upload_end(sp_upload *upload, sp_outcome outcome) {
  sp_delivery_count(upload, outcome);
  sp_upload_free(&sp_mem_default, upload);
}

static bool send_spooled(void) {
  sp_spooled spooled;
  bool there = sp_delivery_fetch_spooled(&delivery, &spooled);

  if (there) {
    sp_delivery_send_spooled(&delivery, &spooled);
    sp_delivery_finish_spooled(&delivery, &spooled);
  }
  sp_spool_file_dispose(&spooled.file);
  return there;
}

/* Send a profile to a server in `mode`, and repeat it after each backoff until
 * it must not be sent again. Returns the outcome and sets *requests to the
 * number of requests. */
static sp_outcome sent_until_over(const char *mode, unsigned *requests) {
  sp_upload *upload;
  sp_outcome outcome = SP_OUTCOME_DROPPED_STOP;
  bool over = false;

  begin(1);
  sink_control(&sink, "%s", mode);
  delivery_begin();
  upload = upload_new();
  for (*requests = 0; !over; ++*requests) {
    CHECK(*requests < 10000);
    CHECK(sp_delivery_backoff_over(&delivery));
    over = sp_delivery_send(&delivery, upload, &outcome);
    if (over)
      continue;
    CHECK(!sp_delivery_backoff_over(&delivery));
    CHECK(delivery.backoff_until_ns > now_ns());
    time_pass(delivery.backoff_until_ns - now_ns());
  }
  upload_end(upload, outcome);
  each_sample_is_counted_once();
  CHECK_EQUAL(sink_number(&sink, "requests"), *requests);
  CHECK_EQUAL(stats().profiles_retried, *requests - 1);
  sp_delivery_dispose(&delivery);
  return outcome;
}

static void the_answer_decides_how_often_a_profile_is_sent(void) {
  unsigned requests;

  CHECK_EQUAL(sent_until_over("{\"mode\": \"ok\"}", &requests),
              SP_OUTCOME_EXPORTED);
  CHECK_EQUAL(requests, 1);
  CHECK_EQUAL(stats().profiles_sent, 1);
  CHECK(stats().bytes_sent > 0);
  CHECK(logged_has("first profile accepted by"));

  CHECK_EQUAL(
      sent_until_over("{\"mode\": \"status\", \"status\": 400}", &requests),
      SP_OUTCOME_DROPPED_EXPORT);
  CHECK_EQUAL(requests, 1);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  CHECK_EQUAL(stats().profiles_sent, 0);
  CHECK(logged_has("answered 400"));

  /* A 503 is retried until the profile is too old for the server. */
  CHECK_EQUAL(
      sent_until_over("{\"mode\": \"status\", \"status\": 503}", &requests),
      SP_OUTCOME_DROPPED_EXPORT);
  CHECK(requests > 100 && requests < 10000);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  CHECK(logged_has("it will be sent again"));
  /* The last request is sent at most one backoff of 10 s after the maximum age.
   */
  CHECK(test_time.jumped_ns >
            SP_RETRY_MAX_AGE_S * SP_NS_PER_S - 30 * SP_NS_PER_S &&
        test_time.jumped_ns < (SP_RETRY_MAX_AGE_S + 11) * SP_NS_PER_S);
}

static void the_recovery_of_the_server_is_logged(void) {
  sp_upload *upload;
  sp_outcome outcome;

  begin(1);
  delivery_begin();
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  upload = upload_new();
  CHECK(!sp_delivery_send(&delivery, upload, &outcome));
  CHECK(upload->tries.attempted);
  CHECK_EQUAL(delivery.failures, 1);
  time_pass(delivery.backoff_until_ns - now_ns());
  sink_control(&sink, "{\"mode\": \"ok\"}");
  CHECK(sp_delivery_send(&delivery, upload, &outcome));
  CHECK_EQUAL(outcome, SP_OUTCOME_EXPORTED);
  CHECK_EQUAL(delivery.failures, 0);
  upload_end(upload, outcome);
  each_sample_is_counted_once();
  sp_delivery_dispose(&delivery);
}

static unsigned called;

static void callback(void *data, const spanprof_profile *profile) {
  CHECK(data == &called);
  CHECK_EQUAL(profile->samples, 3);
  CHECK_EQUAL(profile->cpu_ns, 30000000);
  CHECK(profile->size_bytes > 0);
  called++;
}

/* Return the total size of the files in the directory. */
static uint64_t directory_bytes(const char *path) {
  DIR *directory = opendir(path);
  struct dirent *entry;
  uint64_t bytes = 0;
  struct stat info;

  CHECK(directory != NULL);
  while ((entry = readdir(directory)) != NULL)
    if (!fstatat(dirfd(directory), entry->d_name, &info, 0) &&
        S_ISREG(info.st_mode))
      bytes += (uint64_t)info.st_size;
  closedir(directory);
  return bytes;
}

/* A profile is counted once, however many destinations accept it. It counts as
 * exported if the callback or the directory accepts it, whatever the server
 * answers. */
static void a_profile_is_exported_if_one_destination_accepts_it(void) {
  char directory[64];
  sp_upload *upload;

  begin(1);
  called = 0;
  test_settings.server_address = NULL;
  test_settings.on_profile = callback;
  test_settings.on_profile_data = &called;
  test_settings.output_directory = directory_new(directory);
  delivery_begin();
  CHECK(!sp_delivery_uploads(&delivery));
  CHECK(!sp_delivery_needs_client(&delivery));
  CHECK_EQUAL(sp_delivery_next_ns(&delivery), UINT64_MAX);
  upload = upload_new();
  CHECK(!sp_delivery_spool(&delivery, upload));
  CHECK(!send_spooled());
  sp_delivery_call_back(&delivery, upload);
  CHECK_EQUAL(called, 1);
  CHECK(upload->delivered && !upload->local_tried);
  sp_delivery_write(&delivery, upload);
  CHECK(upload->delivered && upload->local_tried);
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 1);
  CHECK_EQUAL(stats().profiles_written, 1);
  CHECK_EQUAL(stats().bytes_written, directory_bytes(directory));
  upload_end(upload, SP_OUTCOME_DROPPED_EXPORT);
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  sp_delivery_dispose(&delivery);
  directory_remove(directory);
}

static void a_profile_is_dropped_if_no_destination_accepts_it(void) {
  begin(1);
  test_settings.server_address = NULL;
  delivery_begin();
  upload_end(upload_new(), SP_OUTCOME_DROPPED_EXPORT);
  CHECK_EQUAL(stats().samples_dropped_export, 3);
  CHECK_EQUAL(stats().samples_dropped_stop, 0);
  upload_end(upload_new(), SP_OUTCOME_DROPPED_STOP);
  CHECK_EQUAL(stats().samples_dropped_export, 3);
  CHECK_EQUAL(stats().samples_dropped_stop, 3);
  CHECK_EQUAL(stats().profiles_dropped, 2);
  each_sample_is_counted_once();
  sp_delivery_dispose(&delivery);
}

static void spool_one(void) {
  sp_upload *upload = upload_new();

  CHECK(sp_delivery_spool(&delivery, upload));
  sp_upload_free(&sp_mem_default, upload);
}

static void a_spooled_profile_is_counted_when_it_is_sent(void) {
  char directory[64];

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  delivery_begin();
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  spool_one();
  spool_one();
  CHECK_EQUAL(stats().profiles_spooled, 2);
  CHECK_EQUAL(stats().samples_pending, pushed_samples);
  CHECK(send_spooled());
  CHECK(!sp_delivery_backoff_over(&delivery));
  CHECK(sp_delivery_next_ns(&delivery) > now_ns());
  CHECK_EQUAL(stats().samples_pending, pushed_samples);

  time_pass(delivery.backoff_until_ns - now_ns());
  CHECK(sp_delivery_backoff_over(&delivery));
  sink_control(&sink, "{\"mode\": \"ok\"}");
  CHECK(send_spooled());
  CHECK_EQUAL(stats().samples_exported, 3);
  CHECK_EQUAL(stats().samples_pending, 3);
  /* At a stop, profiles in the spool count as exported, because the next
   * process sends them. */
  sp_delivery_count_spooled(&delivery);
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  CHECK_EQUAL(stats().profiles_dropped, 0);
  sp_delivery_dispose(&delivery);
  directory_remove(directory);
}

/* The clock is set forward by an hour while the server is unreachable. */
static void a_clock_jump_does_not_end_the_tries(void) {
  char directory[64];
  sp_upload *upload;
  sp_outcome outcome;

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  delivery_begin();
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  upload = upload_new();
  spool_one();
  test_time.unix_ns += 3600 * SP_NS_PER_S;
  CHECK(!sp_delivery_send(&delivery, upload, &outcome));
  CHECK(send_spooled());
  CHECK_EQUAL(stats().profiles_dropped, 0);
  CHECK_EQUAL(stats().samples_pending, pushed_samples);
  CHECK_EQUAL(sink_number(&sink, "requests"), 2);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  CHECK(sp_delivery_send(&delivery, upload, &outcome));
  upload_end(upload, outcome);
  CHECK(send_spooled());
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  sp_delivery_dispose(&delivery);
  directory_remove(directory);
}

static void a_spooled_profile_that_is_refused_is_dropped(void) {
  char directory[64];

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  delivery_begin();
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 400}");
  spool_one();
  CHECK(send_spooled());
  CHECK(!send_spooled());
  CHECK_EQUAL(stats().samples_dropped_export, pushed_samples);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  each_sample_is_counted_once();
  sp_delivery_dispose(&delivery);
  directory_remove(directory);
}

static void a_spool_without_locks_is_off_which_is_logged(void) {
  char directory[64];
  sp_upload *upload;
  int i;

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  delivery_begin();
  locks_fail = true;
  for (i = 0; i < 3; i++) {
    upload = upload_new();
    CHECK(!sp_delivery_spool(&delivery, upload));
    upload_end(upload, SP_OUTCOME_DROPPED_EXPORT);
    time_pass(61 * SP_NS_PER_S);
  }
  locks_fail = false;
  each_sample_is_counted_once();
  CHECK_EQUAL(logged_count("spool_directory cannot be used"), 1);
  CHECK_EQUAL(logged_count(directory), 1);
  CHECK_EQUAL(logged_count("\n"), 1);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  sp_delivery_dispose(&delivery);
  directory_remove(directory);
}

static void a_forked_child_starts_with_a_new_state(void) {
  sp_upload *upload;
  sp_outcome outcome;

  begin(1);
  delivery_begin();
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  upload = upload_new();
  CHECK(!sp_delivery_send(&delivery, upload, &outcome));
  CHECK(!sp_delivery_backoff_over(&delivery));
  time_pass(11 * SP_NS_PER_S);
  CHECK(sp_delivery_backoff_over(&delivery));
  sp_delivery_after_fork_child(&delivery);
  CHECK(!sp_delivery_backoff_over(&delivery)); /* for 20 s, a child assumes that
                                                * the server is down */
  time_pass(10 * SP_NS_PER_S);
  CHECK(sp_delivery_backoff_over(&delivery));
  CHECK(sp_delivery_needs_client(&delivery));
  CHECK_EQUAL(delivery.failures, 0);
  delivery.client = sp_delivery_client_new(&delivery);
  CHECK(!sp_delivery_needs_client(&delivery));
  sink_control(&sink, "{\"mode\": \"ok\"}");
  CHECK(sp_delivery_send(&delivery, upload, &outcome));
  upload_end(upload, outcome);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  sp_delivery_dispose(&delivery);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_answer_decides_how_often_a_profile_is_sent",
       the_answer_decides_how_often_a_profile_is_sent},
      {"the_recovery_of_the_server_is_logged",
       the_recovery_of_the_server_is_logged},
      {"a_profile_is_exported_if_one_destination_accepts_it",
       a_profile_is_exported_if_one_destination_accepts_it},
      {"a_profile_is_dropped_if_no_destination_accepts_it",
       a_profile_is_dropped_if_no_destination_accepts_it},
      {"a_spooled_profile_is_counted_when_it_is_sent",
       a_spooled_profile_is_counted_when_it_is_sent},
      {"a_clock_jump_does_not_end_the_tries",
       a_clock_jump_does_not_end_the_tries},
      {"a_spooled_profile_that_is_refused_is_dropped",
       a_spooled_profile_that_is_refused_is_dropped},
      {"a_spool_without_locks_is_off_which_is_logged",
       a_spool_without_locks_is_off_which_is_logged},
      {"a_forked_child_starts_with_a_new_state",
       a_forked_child_starts_with_a_new_state},
  };
  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
