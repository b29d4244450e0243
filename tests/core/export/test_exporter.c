#include <pthread.h>
#include <sys/wait.h>

#include "exporter_fixture.h"
#include "failing_mem.h"

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

static void the_server_understands_ingest(void) {
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

static uint64_t callback_samples, callback_bytes, callback_count;

static void on_profile(void *data, const spanprof_profile *profile) {
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
  CHECK(stats().bytes_written >
        callback_bytes); /* files are larger: they also have the series */
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

static void without_a_destination_all_is_counted_as_dropped(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.server_address = NULL;
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_EQUAL(stats().samples_dropped_export, pushed_samples);
  stop(exporter, SPANPROF_OK);
}

static void a_removed_directory_is_logged(void) {
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
  CHECK_EQUAL(sp_exporter_flush(exporter, now_ns() + 300 * SP_NS_PER_MS),
              SPANPROF_ERR_TIMEOUT);
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
    /* The child assumes for 20 s that the server is down. */
    test_time.jumped_ns += 21 * SP_NS_PER_S;
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

static void export_some(const sp_mem *mem) {
  sp_mem locked = locked_mem(mem);
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
    sp_exporter_flush(exporter, now_ns() + 100 * SP_NS_PER_MS);
    sp_exporter_stop(exporter, in_s(20));
    each_sample_is_counted_once();
  }
  directory_remove(output);
  directory_remove(spool);
}

static void exporting_survives_failing_memory(void) {
  begin(1);
  failing_mem_sweep(export_some);
  /* Repeat the sweep with a server that accepts no profile. */
  sink_control(&sink, "{\"mode\": \"status\", \"status\": 503}");
  failing_mem_sweep(export_some);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"profiles_arrive_once", profiles_arrive_once},
    {"a_runtime_becomes_labels", a_runtime_becomes_labels},
    {"the_server_understands_ingest", the_server_understands_ingest},
    {"callback_and_directory_need_no_server",
     callback_and_directory_need_no_server},
    {"a_directory_alone_makes_a_profile_exported",
     a_directory_alone_makes_a_profile_exported},
    {"without_a_destination_all_is_counted_as_dropped",
     without_a_destination_all_is_counted_as_dropped},
    {"a_removed_directory_is_logged", a_removed_directory_is_logged},
/* ThreadSanitizer cannot start threads in the child of a program with several
 * threads. */
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
