/* Ending in time, whatever hangs. */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>

#include "exporter_fixture.h"

static void stop_keeps_its_deadline(void) {
  static const char *const modes[] = {"{\"mode\": \"hang\"}",
                                      "{\"mode\": \"hang_stored\"}",
                                      "{\"mode\": \"slow\", \"seconds\": 9}"};
  size_t i, j;

  for (i = 0; i < SP_COUNT_OF(modes); i++) {
    sp_exporter *exporter;
    uint64_t before_ns;

    begin(1);
    sink_control(&sink, "%s", modes[i]);
    exporter = exporter_of(&sp_mem_default);
    for (j = 0; j < 5; j++)
      push(exporter);
    before_ns = sp_monotonic_ns();
    CHECK_EQUAL(sp_exporter_stop(exporter, in_s(1)), SPANPROF_ERR_TIMEOUT);
    /* Far less than the ten seconds of a request; loaded machines are slow. */
    CHECK(sp_monotonic_ns() - before_ns < 5 * SP_NS_PER_S);
    books_are_closed();
    CHECK_EQUAL(stats().samples_dropped_stop, pushed_samples);
  }
}

static _Atomic bool lookups_hang;

/* libcurl's name lookups come here: the program's own symbol goes first. */
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
  books_are_closed();
  CHECK_EQUAL(stats().samples_dropped_stop, pushed_samples);
  lookups_hang = false;
}

static void stop_without_time_closes_the_books(void) {
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
  /* SPANPROF_ERR_STATE where a loaded machine gave the thread no time. */
  st = sp_exporter_stop(exporter, 0);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_STATE);
  books_are_closed();
  CHECK(st || stats().profiles_spooled == 5);
  directory_remove(directory);
}

static void stop_before_any_profile_is_quick(void) {
  sp_exporter *exporter;

  begin(1);
  exporter = exporter_of(&sp_mem_default);
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(sink_number(&sink, "requests"), 0);
}

static pthread_mutex_t stuck = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int stuck_state; /* 1: in the callback, 2: out of it */

static void stuck_callback(void *data, const spanprof_profile_view *profile) {
  (void)data;
  (void)profile;
  stuck_state = 1;
  pthread_mutex_lock(&stuck);
  pthread_mutex_unlock(&stuck);
  stuck_state = 2;
}

static void a_stuck_thread_is_left_behind(void) {
  char directory[64];
  sp_exporter *exporter;
  struct timespec wait = {0, 10000000};
  int i;

  begin(1);
  stuck_state = 0;
  pthread_mutex_lock(&stuck);
  test_settings.on_profile = stuck_callback;
  test_settings.spool_directory = directory_new(directory);
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 3; i++)
    push(exporter);
  while (stuck_state != 1)
    nanosleep(&wait, NULL);
  CHECK_EQUAL(sp_exporter_stop(exporter, now_ns() + 300 * SP_NS_PER_MS),
              SPANPROF_ERR_STATE);
  books_are_closed();
  CHECK_EQUAL(stats().profiles_spooled, 3);
  pthread_mutex_unlock(&stuck);
  while (stuck_state != 2)
    nanosleep(&wait, NULL);
  nanosleep(&wait, NULL);
  books_are_closed();
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"stop_keeps_its_deadline", stop_keeps_its_deadline},
      {"stop_does_not_wait_for_a_name_lookup",
       stop_does_not_wait_for_a_name_lookup},
      {"stop_without_time_closes_the_books",
       stop_without_time_closes_the_books},
      {"stop_before_any_profile_is_quick", stop_before_any_profile_is_quick},
      {"a_stuck_thread_is_left_behind", a_stuck_thread_is_left_behind},
  };
  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
