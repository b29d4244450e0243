/* A stop of the exporter keeps its deadline, even if the server, a name lookup,
 * a callback or libcurl hangs. */
#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>

#include "exporter_fixture.h"
#include "util/system/own_thread.h"

static void stop_keeps_its_deadline(void) {
  static const char *const modes[] = {"{\"mode\": \"hang\"}",
                                      "{\"mode\": \"hang_stored\"}",
                                      "{\"mode\": \"slow\", \"seconds\": 9}"};
  size_t i, j;

  for (i = 0; i < SP_COUNT_OF(modes); i++) {
    sp_exporter *exporter;
    uint64_t before_ns, took_ns;

    begin(1);
    sink_control(&sink, "%s", modes[i]);
    exporter = exporter_of(&sp_mem_default);
    for (j = 0; j < 5; j++)
      push(exporter);
    before_ns = sp_monotonic_ns();
    CHECK_EQUAL(sp_exporter_stop(exporter, in_s(1)), SPANPROF_ERR_TIMEOUT);
    took_ns = sp_monotonic_ns() - before_ns;
    /* The stop waits for the server for the whole time except the part that is
     * reserved for the disk. A loaded machine may be slow, but the stop is much
     * shorter than the ten seconds of a request. */
    CHECK(took_ns >= 750 * SP_NS_PER_MS && took_ns < 5 * SP_NS_PER_S);
    each_sample_is_counted_once();
    CHECK_EQUAL(stats().samples_dropped_stop, pushed_samples);
  }
}

static _Atomic bool lookups_hang;

/* Replaces the name lookup in libcurl, because the program's symbols have
 * priority over those of libc. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **result) {
  int (*next)(const char *, const char *, const struct addrinfo *,
              struct addrinfo **);
  struct timespec wait = {0, 10000000};
  void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

  while (node && strcmp(node, "hanging.invalid") == 0 && lookups_hang)
    nanosleep(&wait, NULL);
  memcpy(&next, &symbol, sizeof next);
  return next(node, service, hints, result);
}

static void stop_does_not_wait_for_a_name_lookup(void) {
  sp_exporter *exporter;
  uint64_t before_ns;

  begin(1);
  lookups_hang = true;
  test_settings.server_address = (char *)"http://hanging.invalid:4040";
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK_EQUAL(sp_exporter_flush(exporter, now_ns() + 300 * SP_NS_PER_MS),
              SPANPROF_ERR_TIMEOUT);
  before_ns = sp_monotonic_ns();
  CHECK(sp_exporter_stop(exporter, in_s(1)) != SPANPROF_OK);
  CHECK(sp_monotonic_ns() - before_ns < 5 * SP_NS_PER_S);
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().samples_dropped_stop, pushed_samples);
  lookups_hang = false;
}

static void a_stop_without_time_counts_all_samples(void) {
  char directory[64];
  spanprof_status st;
  sp_exporter *exporter;
  int i;

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  sink_control(&sink, "{\"mode\": \"hang\"}");
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 5; i++)
    push(exporter);
  /* The status is SPANPROF_ERR_STATE if a loaded machine gave the uploading
   * thread no CPU time. */
  st = sp_exporter_stop(exporter, 0);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_STATE);
  each_sample_is_counted_once();
  CHECK(st || stats().profiles_spooled == 5);
  directory_remove(directory);
}

static void a_stop_without_profiles_is_quick(void) {
  sp_exporter *exporter;

  begin(1);
  exporter = exporter_of(&sp_mem_default);
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(sink_number(&sink, "requests"), 0);
}

/* Stop an exporter with 20 waiting uploads, after the server has answered the
 * first request as `mode` says. Return the number of requests during the stop.
 */
static long long requests_at_stop(const char *mode) {
  sp_exporter *exporter;
  long long before;
  int i;

  begin(1);
  sink_control(&sink, "%s", mode);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  for (i = 0; i < 2000 && sink_number(&sink, "requests") < 1; i++)
    pass_s(0);
  while (!stats().profiles_dropped && !logged_has("it will be sent again") &&
         !logged_has("profiles are kept"))
    pass_s(0);
  for (i = 0; i < 19; i++)
    push(exporter);
  before = sink_number(&sink, "requests");
  stop(exporter, SPANPROF_ERR_TIMEOUT);
  return sink_number(&sink, "requests") - before;
}

static void a_stop_sends_few_requests_to_a_server_that_refuses(void) {
  CHECK_EQUAL(requests_at_stop("{\"mode\": \"status\", \"status\": 429, "
                               "\"retry_after\": 300}"),
              0);
  CHECK_EQUAL(requests_at_stop("{\"mode\": \"status\", \"status\": 429}"), 0);
  CHECK_EQUAL(requests_at_stop("{\"mode\": \"status\", \"status\": 503, "
                               "\"retry_after\": 30}"),
              0);
  CHECK_EQUAL(requests_at_stop("{\"mode\": \"status\", \"status\": 401}"), 1);
  CHECK(requests_at_stop("{\"mode\": \"status\", \"status\": 503}") <= 2);
  CHECK(requests_at_stop("{\"mode\": \"status\", \"status\": 500}") <= 4);
}

static pthread_mutex_t stuck = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int stuck_state; /* 1: in stuck_callback(), 2: after it */

static void stuck_callback(void *data, const spanprof_profile *profile) {
  (void)data;
  (void)profile;
  stuck_state = 1;
  pthread_mutex_lock(&stuck);
  pthread_mutex_unlock(&stuck);
  stuck_state = 2;
}

static void a_stuck_thread_is_abandoned(void) {
  char directory[64];
  sp_exporter *exporter;
  struct timespec wait = {0, 10000000};
  uint64_t before_ns, took_ns;
  int i;

  begin(1);
  CHECK_EQUAL(sp_own_thread_count(), 0);
  stuck_state = 0;
  pthread_mutex_lock(&stuck);
  test_settings.on_profile = stuck_callback;
  test_settings.spool_directory = directory_new(directory);
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 3; i++)
    push(exporter);
  while (stuck_state != 1)
    nanosleep(&wait, NULL);
  before_ns = sp_monotonic_ns();
  CHECK_EQUAL(sp_exporter_stop(exporter, now_ns() + 300 * SP_NS_PER_MS),
              SPANPROF_ERR_STATE);
  took_ns = sp_monotonic_ns() - before_ns;
  /* Of the 300 ms, at most a quarter is reserved for the disk. */
  CHECK(took_ns >= 225 * SP_NS_PER_MS && took_ns < 5 * SP_NS_PER_S);
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().profiles_spooled, 3);
  CHECK_EQUAL(stuck_state, 1);
  CHECK_EQUAL(sp_own_thread_count(), 1);
  pthread_mutex_unlock(&stuck);
  /* What the abandoned thread does later is not counted. */
  CHECK(sp_own_threads_join_deferred(60 * SP_NS_PER_S));
  CHECK_EQUAL(stuck_state, 2);
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().profiles_spooled, 3);
  directory_remove(directory);
}

static _Atomic bool transfers_hang, transfer_hangs;

/* Replaces libcurl's function. It behaves like a name lookup of an old libcurl
 * that does not return. */
CURLMcode curl_multi_perform(CURLM *multi, int *running) {
  CURLMcode (*next)(CURLM *, int *);
  struct timespec wait = {0, 10000000};
  void *symbol = dlsym(RTLD_NEXT, "curl_multi_perform");

  while (transfers_hang) {
    transfer_hangs = true;
    nanosleep(&wait, NULL);
  }
  memcpy(&next, &symbol, sizeof next);
  return next(multi, running);
}

static void queued_profiles_are_spooled_while_a_spooled_one_is_stuck(void) {
  char directory[64];
  sp_exporter *exporter;
  struct timespec wait = {0, 10000000};

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(stats().profiles_spooled, 1);
  transfers_hang = true;
  test_time.jumped_ns += 11 * SP_NS_PER_S;
  while (!transfer_hangs)
    nanosleep(&wait, NULL);
  push(exporter);
  CHECK_EQUAL(sp_exporter_stop(exporter, now_ns() + 300 * SP_NS_PER_MS),
              SPANPROF_ERR_STATE);
  each_sample_is_counted_once();
  CHECK_EQUAL(stats().profiles_spooled, 2);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  transfers_hang = false;
  CHECK(sp_own_threads_join_deferred(60 * SP_NS_PER_S));
  each_sample_is_counted_once();
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"stop_keeps_its_deadline", stop_keeps_its_deadline},
      {"stop_does_not_wait_for_a_name_lookup",
       stop_does_not_wait_for_a_name_lookup},
      {"a_stop_without_time_counts_all_samples",
       a_stop_without_time_counts_all_samples},
      {"a_stop_without_profiles_is_quick", a_stop_without_profiles_is_quick},
      {"a_stop_sends_few_requests_to_a_server_that_refuses",
       a_stop_sends_few_requests_to_a_server_that_refuses},
      {"a_stuck_thread_is_abandoned", a_stuck_thread_is_abandoned},
      {"queued_profiles_are_spooled_while_a_spooled_one_is_stuck",
       queued_profiles_are_spooled_while_a_spooled_one_is_stuck},
  };
  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
