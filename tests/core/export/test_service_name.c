#include "exporter_fixture.h"
#include "export/service_name.h"
#include "failing_mem.h"

/* Create an exporter whose settings have no application_name. */
static sp_exporter *exporter_open(uint64_t clock_rate) {
  begin(clock_rate);
  test_settings.application_name = (char *)"unknown_service:program";
  test_settings.name_open = true;
  return exporter_of(&sp_mem_default);
}

static void name_set(sp_exporter *exporter, const char *name,
                     const char *name_space, bool expected) {
  bool adopted;

  CHECK(!sp_exporter_service_set(exporter, name, name_space, &adopted));
  CHECK_EQUAL(adopted, expected);
}

static void await(long long profiles) {
  while (sink_number(&sink, "profiles") < profiles)
    usleep(1000);
}

static void profiles_wait_for_the_name_of_the_spans(void) {
  char directory[64], command[128];
  sp_exporter *exporter;

  begin(1);
  test_settings.application_name = (char *)"unknown_service:program";
  test_settings.name_open = true;
  test_settings.output_directory = directory_new(directory);
  exporter = exporter_of(&sp_mem_default);
  push(exporter);
  push(exporter);
  pass_s(29);
  CHECK_EQUAL(sink_number(&sink, "requests"), 0);
  CHECK_EQUAL(stats().profiles_written, 0);
  name_set(exporter, "shop", "eu", true);
  await(2);
  push(exporter);
  await(3);
  CHECK_TEXT(sink_text(&sink, "series/0/service_name"), "shop");
  CHECK_TEXT(sink_text(&sink, "series/0/service_namespace"), "eu");
  CHECK(logged_has("profiles have the service name of the spans, \"shop\""));
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 3);
  snprintf(command, sizeof command, "ls %s | grep -qv ^shop-", directory);
  CHECK(system(command) != 0);
  directory_remove(directory);
}

static void profiles_wait_30_s_from_the_first_push(void) {
  sp_exporter *exporter = exporter_open(1);

  push(exporter);
  pass_s(20);
  push(exporter);
  pass_s(11);
  await(2);
  CHECK_TEXT(sink_text(&sink, "series/0/service_name"),
             "unknown_service:program");
  push(exporter);
  await(3);
  name_set(exporter, "shop", NULL, true);
  push(exporter);
  await(4);
  CHECK_TEXT(sink_text(&sink, "series/0/service_name"), "shop");
  stop(exporter, SPANPROF_OK);
}

static void a_flush_does_not_wait_for_a_name(void) {
  sp_exporter *exporter = exporter_open(1);

  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_TEXT(sink_text(&sink, "series/0/service_name"),
             "unknown_service:program");
  push(exporter);
  pass_s(1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 1);
  name_set(exporter, "shop", NULL, true);
  await(2);
  stop(exporter, SPANPROF_OK);
}

static void a_stop_does_not_wait_for_a_name(void) {
  sp_exporter *exporter = exporter_open(1);

  push(exporter);
  stop(exporter, SPANPROF_OK);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 1);
  CHECK_EQUAL(stats().samples_exported, pushed_samples);
}

static void the_wait_for_a_name_can_be_ended(void) {
  sp_exporter *exporter = exporter_open(1);

  push(exporter);
  sp_exporter_end_name_wait(exporter);
  push(exporter);
  await(2);
  stop(exporter, SPANPROF_OK);
}

static void half_of_queue_bytes_may_wait(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.name_open = true;
  test_settings.queue_bytes = 40000;
  exporter = exporter_of(&sp_mem_default);
  push_sized(exporter, 9000);
  pass_s(1);
  CHECK_EQUAL(sink_number(&sink, "profiles"), 0);
  push_sized(exporter, 9000);
  push_sized(exporter, 9000);
  await(3);
  CHECK_EQUAL(stats().samples_dropped_export, 0);
  stop(exporter, SPANPROF_OK);
}

static void a_different_name_is_logged_once(void) {
  sp_exporter *exporter;
  int i;

  for (i = 0; i < 2; i++) {
    begin(1);
    exporter = exporter_of(&sp_mem_default);
    name_set(exporter, "checkout", "eu", false);
    push(exporter);
    CHECK(!sp_exporter_flush(exporter, in_s(20)));
    CHECK_EQUAL(logged_count("spans have the service name"), 0);
    CHECK_TEXT(sink_text(&sink, "series/0/service_namespace"), "eu");
    name_set(exporter, "cart", "us", false);
    name_set(exporter, "cart", "us", false);
    push(exporter);
    CHECK(!sp_exporter_flush(exporter, in_s(20)));
    CHECK_TEXT(sink_text(&sink, "series/0/service_name"), "checkout");
    CHECK_EQUAL(sink_number(&sink, "profiles"), 2);
    CHECK_EQUAL(
        logged_count("spans have the service name \"cart\", but profiles have "
                     "\"checkout\""),
        i == 0);
    stop(exporter, SPANPROF_OK);
  }
}

static sp_pair namespace_given[] = {
    {(char *)"service.namespace", (char *)"given"}};

static void a_namespace_that_was_given_stays(void) {
  sp_exporter *exporter;

  begin(1);
  test_settings.labels = namespace_given;
  test_settings.label_count = 1;
  exporter = exporter_of(&sp_mem_default);
  name_set(exporter, "checkout", "name_set", false);
  push(exporter);
  CHECK(!sp_exporter_flush(exporter, in_s(20)));
  CHECK_TEXT(sink_text(&sink, "series/0/service.namespace"), "given");
  stop(exporter, SPANPROF_OK);
}

static void name_some(const sp_mem *mem) {
  const sp_mem locked = locked_mem(mem);
  sp_exporter *exporter;
  bool adopted;

  begin(1);
  test_settings.name_open = true;
  if (sp_exporter_new(&exporter, &locked, &test_settings, &test_time.clock,
                      &test_log))
    return;
  sp_exporter_runtime_set(exporter, "ruby", "3.3.1");
  push(exporter);
  sp_exporter_service_set(exporter, "shop", "eu", &adopted);
  sp_exporter_service_set(exporter, "cart", NULL, &adopted);
  push(exporter);
  sp_exporter_stop(exporter, in_s(20));
  each_sample_is_counted_once();
}

static void naming_survives_failing_memory(void) {
  failing_mem_sweep(name_some);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"profiles_wait_for_the_name_of_the_spans",
       profiles_wait_for_the_name_of_the_spans},
      {"profiles_wait_30_s_from_the_first_push",
       profiles_wait_30_s_from_the_first_push},
      {"a_flush_does_not_wait_for_a_name", a_flush_does_not_wait_for_a_name},
      {"a_stop_does_not_wait_for_a_name", a_stop_does_not_wait_for_a_name},
      {"the_wait_for_a_name_can_be_ended", the_wait_for_a_name_can_be_ended},
      {"half_of_queue_bytes_may_wait", half_of_queue_bytes_may_wait},
      {"a_different_name_is_logged_once", a_different_name_is_logged_once},
      {"a_namespace_that_was_given_stays", a_namespace_that_was_given_stays},
      {"naming_survives_failing_memory", naming_survives_failing_memory},
  };
  int failed;

  sink_start(&sink, "http", NULL);
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sink_stop(&sink);
  return failed;
}
