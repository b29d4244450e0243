#include "export/exporter.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/wait.h>

#include "export_fixture.h"
#include "failing_mem.h"
#include "sample_pprof.h"
#include "sink_process.h"
#include "util/counters.h"

static test_clock test_time;
static sp_log test_log;
static sp_settings test_settings;
static sink_process sink;
static uint64_t pushed_samples, pushed_ticks, pushed_cpu_ns, last_time_ns;

/* Start anew: settings, books, log, clock, sink. */
static void begin(uint64_t clock_rate) {
  test_clock_init(&test_time, clock_rate);
  sink_control(&sink,
               "{\"reset\": true, \"clock_rate\": %llu, \"clock_origin\": %f}",
               (unsigned long long)clock_rate,
               (double)sp_clock_unix_ns(&test_time.clock) / 1e9);
  test_settings = usual_settings();
  test_settings.server_address = sink.address;
  logged[0] = '\0';
  sp_log_init(&test_log, logged_write, NULL, SPANPROF_LOG_INFO,
              &test_time.clock);
  sp_counters_reset();
  pushed_samples = pushed_ticks = pushed_cpu_ns = last_time_ns = 0;
}

static sp_exporter *exporter_of(const sp_mem *mem) {
  sp_exporter *exporter;

  CHECK(!sp_exporter_new(&exporter, mem, &test_settings, &test_time.clock,
                         &test_log));
  return exporter;
}

static uint64_t now_ns(void) {
  return sp_clock_monotonic_ns(&test_time.clock);
}

static uint64_t in_s(uint64_t seconds) {
  return now_ns() + seconds * SP_NS_PER_S;
}

/* Let `seconds` of the test's clock pass. */
static void pass_s(uint64_t seconds) {
  uint64_t until_ns = in_s(seconds);
  struct timespec wait = {0, 1000000};

  while (now_ns() < until_ns)
    nanosleep(&wait, NULL);
}

static void push_sized(sp_exporter *exporter, size_t filler) {
  uint64_t time_ns =
      sp_max_u64(last_time_ns + 1, sp_clock_unix_ns(&test_time.clock));
  uint64_t samples = 1 + time_ns % 7;
  sp_encoded part = sample_pprof(&sp_mem_default, time_ns, samples,
                                 samples * 10000000, filler);

  last_time_ns = time_ns;
  sp_count(&sp_counts.samples_taken, samples);
  sp_count(&sp_counts.ticks_taken, part.ticks);
  pushed_samples += samples;
  pushed_ticks += part.ticks;
  pushed_cpu_ns += part.cpu_ns;
  sp_exporter_push(exporter, &part);
}

static void push(sp_exporter *exporter) {
  push_sized(exporter, 100);
}

static spanprof_stats stats(void) {
  spanprof_stats out = {.struct_size = sizeof out};

  sp_counters_read(&out);
  return out;
}

/* All that was pushed stands in the books once. */
static void books_are_closed(void) {
  spanprof_stats out = stats();

  CHECK_EQUAL(out.samples_pending, 0);
  CHECK_EQUAL(out.samples_exported + out.samples_dropped_export +
                  out.samples_dropped_stop,
              pushed_samples);
  CHECK_EQUAL(out.ticks_exported + out.ticks_dropped, pushed_ticks);
}

static void stop(sp_exporter *exporter, spanprof_status expected) {
  CHECK_EQUAL(sp_exporter_stop(exporter, in_s(20)), expected);
  books_are_closed();
}

static void profiles_arrive_once(void) {
  sp_exporter *exporter;
  int i;

  begin(1);
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 20; i++)
    push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(sink_number(&sink, "profiles"), 20);
  CHECK_EQUAL(sink_number(&sink, "repeats"), 0);
  CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
  CHECK_TEXT(sink_text(&sink, "series/0/service_name"), "checkout");
  CHECK_TEXT(sink_text(&sink, "series/0/otel.scope.name"), "spanprof");
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  CHECK_EQUAL(stats().profiles_sent, 20);
  CHECK(stats().bytes_sent > 0);
  CHECK(stats().uploader_cpu_ns > 0);
  CHECK_EQUAL(logged_count("first profile accepted"), 1);
  stop(exporter, SPANPROF_OK);
}

static void a_runtime_becomes_labels(void) {
  sp_exporter *exporter;

  begin(1);
  exporter = exporter_of(&sp_mem_default);
  CHECK(!sp_exporter_runtime_set(exporter, "ruby", "3.3.1"));
  CHECK(!sp_exporter_runtime_set(exporter, "ruby", "3.3.2"));
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_TEXT(sink_text(&sink, "series/0/process.runtime.version"), "3.3.2");
  CHECK(!sp_exporter_runtime_set(exporter, "ruby", "3.3.3"));
  stop(exporter, SPANPROF_OK);
}

static void ingest_is_understood(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.protocol = SP_PROTOCOL_INGEST;
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
  CHECK_TEXT(sink_text(&sink, "series/0/pyroscope_spy"), "spanprof");
  stop(exporter, SPANPROF_OK);
}

static void refused_profiles_are_dropped_at_once(void) {
  static const int statuses[] = {400, 401, 403, 404, 413, 415, 422, 501};
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
    /* One warning of a kind a minute. */
    CHECK_EQUAL(logged_count("the profile is dropped"), 1);
    stop(exporter, SPANPROF_OK);
  }
}

static void passing_troubles_lose_nothing(void) {
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

    begin(50);
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

static void a_bad_profile_does_not_hold_up_others(void) {
  sp_encoded bad = {.bytes = sp_mem_text(&sp_mem_default, "nonsense", 8),
                    .size = 8,
                    .mem = &sp_mem_default,
                    .samples = 3,
                    .ticks = 3};
  sp_exporter *exporter;
  int i;

  begin(50);
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
  /* Five tries, as a 500 may be the server's start. */
  CHECK_EQUAL(sink_number(&sink, "answers/500"), 5);
  CHECK_EQUAL(stats().samples_dropped_export, 3);
  CHECK_EQUAL(stats().profiles_retried, 4);
  stop(exporter, SPANPROF_OK);
}

static void half_an_hour_of_outage_loses_nothing(void) {
  sp_exporter *exporter;
  long long asked;
  int i;

  begin(200);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(600)));
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  for (i = 0; i < 180; i++) {
    push(exporter);
    pass_s(10);
  }
  asked = sink_number(&sink, "answers/503");
  /* A backoff of 0.5 to 10 s, 5.25 in the mean, for half an hour. */
  CHECK(asked >= 180 && asked <= 1000);
  CHECK_EQUAL(stats().samples_dropped_export, 0);
  CHECK(stats().samples_pending > 0);
  sink_control(&sink, "{\"mode\": \"ok\"}");
  for (i = 0; i < 600 && stats().samples_pending; i++)
    pass_s(1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 181);
  CHECK_EQUAL(sink_number(&sink, "value"), pushed_cpu_ns);
  CHECK(stats().profiles_retried > 0);
  CHECK_EQUAL(logged_count("work again"), 1);
  /* One warning a minute. */
  CHECK(logged_count("answered 503") >= 20);
  CHECK(logged_count("answered 503") <= 35);
  stop(exporter, SPANPROF_OK);
}

static void after_45_minutes_profiles_are_given_up(void) {
  sp_exporter *exporter;
  int i;

  begin(2000);
  test_settings.server_address = (char *)"http://127.0.0.1:1";
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  for (i = 0; i < 26; i++)
    pass_s(100);
  CHECK_EQUAL(stats().samples_dropped_export, 0);
  pass_s(140);
  CHECK_EQUAL(stats().samples_dropped_export, pushed_samples);
  CHECK_EQUAL(stats().profiles_dropped, 1);
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
  /* The newest are those that are left. */
  CHECK_EQUAL(sink_number(&sink, "profiles"), 50 - (long long)dropped);
}

static void what_overflows_goes_through_the_spool(void) {
  char directory[64];
  sp_exporter *exporter;
  int i;

  begin(50);
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

static void the_next_process_sends_what_a_stop_spooled(void) {
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
  /* Handed on to the disk. */
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

static uint64_t callback_samples, callback_bytes, callback_count;

static void on_profile(void *data, const spanprof_profile_view *profile) {
  CHECK(data == &callback_count);
  callback_count++;
  callback_samples += profile->samples;
  callback_bytes += profile->size_bytes;
}

static void callback_and_directory_need_no_server(void) {
  char directory[64];
  sp_exporter *exporter;
  int i;

  begin(1);
  callback_count = callback_samples = callback_bytes = 0;
  test_settings.server_address = NULL;
  test_settings.output_directory = directory_new(directory);
  test_settings.on_profile = on_profile;
  test_settings.on_profile_data = &callback_count;
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 7; i++)
    push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(callback_count, 7);
  CHECK_EQUAL(callback_samples, pushed_samples);
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 7);
  CHECK_EQUAL(stats().profiles_written, 7);
  CHECK_EQUAL(stats().bytes_written, callback_bytes);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  stop(exporter, SPANPROF_OK);
  directory_remove(directory);
}

static void a_directory_alone_makes_a_profile_exported(void) {
  char directory[64];
  sp_exporter *exporter;

  begin(1);
  test_settings.output_directory = directory_new(directory);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 400}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
  CHECK_EQUAL(stats().samples_dropped_export, 0);
  CHECK_EQUAL(stats().profiles_dropped, 1);
  stop(exporter, SPANPROF_OK);
  directory_remove(directory);
}

static void without_a_sink_all_is_counted_as_dropped(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.server_address = NULL;
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(stats().samples_dropped_export, pushed_samples);
  stop(exporter, SPANPROF_OK);
}

static void a_directory_that_vanishes_is_warned_of(void) {
  char directory[64];
  sp_exporter *exporter;

  begin(1);
  test_settings.output_directory = directory_new(directory);
  exporter = exporter_of(&sp_mem_default);
  directory_remove(directory);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(logged_count("a profile was not written"), 1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 1);
  stop(exporter, SPANPROF_OK);
}

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
  sp_exporter *exporter;
  int i;

  begin(1);
  test_settings.spool_directory = directory_new(directory);
  sink_control(&sink, "{\"mode\": \"hang\"}");
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 5; i++)
    push(exporter);
  CHECK_EQUAL(sp_exporter_stop(exporter, 0), SPANPROF_OK);
  books_are_closed();
  CHECK_EQUAL(stats().profiles_spooled, 5);
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

#if !defined(__SANITIZE_THREAD__)
static void a_forked_child_sends_only_its_own(void) {
  sp_exporter *exporter;
  uint64_t parent_cpu_ns;
  int status;
  pid_t pid;

  begin(1);
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  sink_control(&sink, "{\"mode\": \"hang\"}");
  parent_cpu_ns = pushed_cpu_ns;
  sp_exporter_before_fork(exporter);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    sp_exporter_after_fork_child(exporter);
    sp_log_after_fork(&test_log);
    sp_counters_reset();
    pushed_samples = pushed_ticks = pushed_cpu_ns = 0;
    sink_control(&sink, "{\"mode\": \"ok\"}");
    push(exporter);
    CHECK(!sp_exporter_flush(exporter, in_s(20)));
    stop(exporter, SPANPROF_OK);
    CHECK_EQUAL(stats().samples_exported, pushed_samples);
    CHECK(strstr(sink_text(&sink, "by_label/service_name/checkout"), "0"));
    _exit(pushed_cpu_ns / 10000000 > 255 ? 255
                                         : (int)(pushed_cpu_ns / 10000000));
  }
  sp_exporter_after_fork_parent(exporter);
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) > 0);
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 3);
  CHECK_EQUAL(sink_number(&sink, "repeats"), 0);
  CHECK_EQUAL(sink_number(&sink, "value"),
              parent_cpu_ns + (uint64_t)WEXITSTATUS(status) * 10000000);
}

#endif

static void *push_many(void *argument) {
  int i;

  for (i = 0; i < 200; i++) {
    sp_encoded part = {.bytes = sp_mem_text(&sp_mem_default, "x", 1),
                       .size = 1,
                       .mem = &sp_mem_default,
                       .samples = 1,
                       .ticks = 1};

    sp_exporter_push(argument, &part);
  }
  return NULL;
}

static void many_threads_push_flush_and_fork(void) {
  pthread_t threads[4];
  sp_exporter *exporter;
  int i;

  begin(1);
  test_settings.server_address = NULL;
  test_settings.on_profile = on_profile;
  test_settings.on_profile_data = &callback_count;
  exporter = exporter_of(&sp_mem_default);
  for (i = 0; i < 4; i++)
    CHECK(pthread_create(&threads[i], NULL, push_many, exporter) == 0);
  for (i = 0; i < 20; i++) {
    pid_t pid;

    CHECK(!sp_exporter_flush(exporter, in_s(20)));
    sp_exporter_before_fork(exporter);
    pid = fork();
    if (pid == 0) {
      sp_exporter_after_fork_child(exporter);
      _exit(0);
    }
    sp_exporter_after_fork_parent(exporter);
    CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
  }
  for (i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  pushed_samples = pushed_ticks = 800;
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(stats().samples_exported, 800);
}

/* failing_mem is for one thread; the exporter has two. */
static pthread_mutex_t sweep_lock = PTHREAD_MUTEX_INITIALIZER;

static void *locked_resize(void *data, void *old, size_t size) {
  const sp_mem *mem = data;
  void *p;

  pthread_mutex_lock(&sweep_lock);
  p = mem->resize(mem->data, old, size);
  pthread_mutex_unlock(&sweep_lock);
  return p;
}

static void export_some(const sp_mem *mem) {
  sp_mem locked = {.resize = locked_resize, .data = (void *)(size_t)mem};
  char output[64], spool[64];
  sp_exporter *exporter;
  int i;

  sp_counters_reset();
  pushed_samples = pushed_ticks = 0;
  test_settings.output_directory = directory_new(output);
  test_settings.spool_directory = directory_new(spool);
  test_settings.queue_bytes = 2000;
  if (!sp_exporter_new(&exporter, &locked, &test_settings, &test_time.clock,
                       &test_log)) {
    sp_exporter_runtime_set(exporter, "ruby", "3.3.1");
    for (i = 0; i < 6; i++)
      push_sized(exporter, 600);
    sp_exporter_flush(exporter, in_s(20));
    sp_exporter_stop(exporter, in_s(20));
    books_are_closed();
  }
  directory_remove(output);
  directory_remove(spool);
}

static void exporting_survives_failing_memory(void) {
  begin(1);
  failing_mem_sweep(export_some);
  /* And with a server that takes nothing. */
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  failing_mem_sweep(export_some);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"profiles_arrive_once", profiles_arrive_once},
    {"a_runtime_becomes_labels", a_runtime_becomes_labels},
    {"ingest_is_understood", ingest_is_understood},
    {"refused_profiles_are_dropped_at_once",
     refused_profiles_are_dropped_at_once},
    {"passing_troubles_lose_nothing", passing_troubles_lose_nothing},
    {"a_bad_profile_does_not_hold_up_others",
     a_bad_profile_does_not_hold_up_others},
    {"half_an_hour_of_outage_loses_nothing",
     half_an_hour_of_outage_loses_nothing},
    {"after_45_minutes_profiles_are_given_up",
     after_45_minutes_profiles_are_given_up},
    {"the_queue_is_bounded", the_queue_is_bounded},
    {"what_overflows_goes_through_the_spool",
     what_overflows_goes_through_the_spool},
    {"the_next_process_sends_what_a_stop_spooled",
     the_next_process_sends_what_a_stop_spooled},
    {"callback_and_directory_need_no_server",
     callback_and_directory_need_no_server},
    {"a_directory_alone_makes_a_profile_exported",
     a_directory_alone_makes_a_profile_exported},
    {"without_a_sink_all_is_counted_as_dropped",
     without_a_sink_all_is_counted_as_dropped},
    {"a_directory_that_vanishes_is_warned_of",
     a_directory_that_vanishes_is_warned_of},
    {"stop_keeps_its_deadline", stop_keeps_its_deadline},
    {"stop_does_not_wait_for_a_name_lookup",
     stop_does_not_wait_for_a_name_lookup},
    {"stop_without_time_closes_the_books", stop_without_time_closes_the_books},
    {"stop_before_any_profile_is_quick", stop_before_any_profile_is_quick},
    {"a_stuck_thread_is_left_behind", a_stuck_thread_is_left_behind},
/* TSan cannot start threads in the child of a program with several. */
#if !defined(__SANITIZE_THREAD__)
    {"a_forked_child_sends_only_its_own", a_forked_child_sends_only_its_own},
#endif
    {"many_threads_push_flush_and_fork", many_threads_push_flush_and_fork},
    {"exporting_survives_failing_memory", exporting_survives_failing_memory},
  };

  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
