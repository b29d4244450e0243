#include "export/profile_files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>

#include "export_fixture.h"
#include "failing_mem.h"
#include "sample_pprof.h"

static test_clock test_time;
static sp_log test_log;

static sp_profile_files *files_in(const char *directory,
                                  sp_settings *settings) {
  sp_profile_files *files;

  settings->output_directory = (char *)(size_t)directory;
  test_clock_init(&test_time, 1);
  sp_log_init(&test_log, logged_write, NULL, SPANPROF_LOG_INFO,
              &test_time.clock);
  logged[0] = '\0';
  CHECK(!sp_profile_files_new(&files, &sp_mem_default, settings,
                              &test_time.clock, &test_log));
  return files;
}

static const sp_series no_series;

static spanprof_status put(sp_profile_files *files, uint64_t time_ns,
                           size_t filler) {
  sp_encoded part = sample_pprof(&sp_mem_default, time_ns, 1, 10, filler);
  size_t bytes;
  spanprof_status st = sp_profile_files_put(files, &part, &no_series, &bytes);

  CHECK(st || bytes == part.size);
  sp_encoded_dispose(&part);
  return st;
}

static bool exists(const char *directory, const char *format, ...) {
  char path[4096];
  va_list arguments;
  size_t used = (size_t)snprintf(path, sizeof path, "%s/", directory);

  va_start(arguments, format);
  vsnprintf(path + used, sizeof path - used, format, arguments);
  va_end(arguments);
  return access(path, F_OK) == 0;
}

static void touch(const char *directory, const char *name, size_t size) {
  char path[4096];
  int fd;

  snprintf(path, sizeof path, "%s/%s", directory, name);
  fd = open(path, O_WRONLY | O_CREAT, 0644);
  CHECK(fd >= 0);
  CHECK(ftruncate(fd, (off_t)size) == 0);
  close(fd);
}

static void a_profile_becomes_a_private_file(void) {
  char directory[64], path[256];
  sp_settings settings = usual_settings();
  sp_encoded part = sample_pprof(&sp_mem_default, 1234, 1, 10, 500);
  sp_profile_files *files;
  struct stat info;
  mode_t before = umask(0);
  size_t bytes;

  settings.application_name = (char *)"../my app:\xc3\xa9";
  files = files_in(directory_new(directory), &settings);
  CHECK(!sp_profile_files_put(files, &part, &no_series, &bytes));
  snprintf(path, sizeof path, "%s/_._my_app___.%08x-%d-1234.pb.gz", directory,
           (unsigned)crc32(0, (const Bytef *)settings.application_name,
                           (uInt)strlen(settings.application_name)),
           (int)getpid());
  CHECK(stat(path, &info) == 0);
  CHECK_EQUAL(info.st_mode & 07777, 0600);
  CHECK_EQUAL(info.st_size, part.size);
  CHECK_EQUAL(directory_count(directory, ""), 1);
  umask(before);
  sp_encoded_dispose(&part);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void a_missing_last_path_component_is_created(void) {
  char directory[64], path[128];
  sp_settings settings = usual_settings();
  sp_profile_files *files;

  directory_new(directory);
  snprintf(path, sizeof path, "%s/new", directory);
  files = files_in(path, &settings);
  CHECK(!put(files, 1, 0));
  sp_profile_files_free(files);
  snprintf(path, sizeof path, "%s/no/such", directory);
  settings.output_directory = path;
  CHECK_EQUAL(sp_profile_files_new(&files, &sp_mem_default, &settings,
                                   &test_time.clock, &test_log),
              SPANPROF_ERR_IO);
  CHECK(files == NULL);
  CHECK(strstr(spanprof_last_error(), "output_directory") != NULL);
  CHECK(strstr(spanprof_last_error(), path) != NULL);
  directory_remove(directory);
}

static void a_file_is_refused_as_directory(void) {
  char directory[64], path[128];
  sp_settings settings = usual_settings();
  sp_profile_files *files;

  touch(directory_new(directory), "file", 1);
  snprintf(path, sizeof path, "%s/file", directory);
  settings.output_directory = path;
  CHECK_EQUAL(sp_profile_files_new(&files, &sp_mem_default, &settings,
                                   &test_time.clock, &test_log),
              SPANPROF_ERR_IO);
  directory_remove(directory);
}

static void the_oldest_files_beyond_the_size_limit_are_removed(void) {
  char directory[64];
  sp_settings settings = usual_settings();
  uint64_t now_ns, i;
  sp_profile_files *files;

  settings.output_max_bytes = 100000;
  files = files_in(directory_new(directory), &settings);
  now_ns = sp_clock_unix_ns(&test_time.clock);
  for (i = 0; i < 30; i++)
    CHECK(!put(files, now_ns + i, 10000));
  CHECK(directory_count(directory, ".pb.gz") >= 8);
  CHECK(directory_count(directory, ".pb.gz") <= 12);
  CHECK_EQUAL(directory_count(directory, ".pb.gz") +
                  sp_profile_files_removed(files),
              30);
  CHECK(exists(directory, "checkout-%d-%llu.pb.gz", getpid(),
               (unsigned long long)(now_ns + 29)));
  CHECK(!exists(directory, "checkout-%d-%llu.pb.gz", getpid(),
                (unsigned long long)now_ns));
  CHECK(logged_count("because of output_max_bytes") > 0);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void files_beyond_the_age_limit_are_removed(void) {
  char directory[64];
  sp_settings settings = usual_settings();
  uint64_t now_ns;
  sp_profile_files *files;

  settings.output_max_age_s = 60;
  files = files_in(directory_new(directory), &settings);
  now_ns = sp_clock_unix_ns(&test_time.clock);
  CHECK(!put(files, now_ns - 59 * SP_NS_PER_S, 0));
  CHECK(!put(files, now_ns - 30 * SP_NS_PER_S, 0));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 2);
  test_time.unix_ns += 2 * SP_NS_PER_S;
  CHECK(!put(files, now_ns, 0));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 2);
  CHECK_EQUAL(sp_profile_files_removed(files), 1);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void only_files_of_the_application_are_removed(void) {
  static const char *const others[] = {
      "checkout-12-34.pb.gz.bak", "checkout-12-34.pprof", "checkout-12.pb.gz",
      "checkout-012-34.pb.gz",    "checkout-x-34.pb.gz",  "other-12-34.pb.gz",
      "checkout-12-34-56.pb.gz",  "xcheckout-12-34.pb.gz"};
  char directory[64];
  sp_settings settings = usual_settings();
  sp_profile_files *files;
  size_t i;

  settings.output_max_bytes = 50000;
  files = files_in(directory_new(directory), &settings);
  for (i = 0; i < SP_COUNT_OF(others); i++)
    touch(directory, others[i], 60000);
  /* This file is from an earlier process of the same application. */
  touch(directory, "checkout-12-34.pb.gz", 60000);
  CHECK(!put(files, sp_clock_unix_ns(&test_time.clock), 0));
  for (i = 0; i < SP_COUNT_OF(others); i++)
    CHECK(exists(directory, "%s", others[i]));
  CHECK(!exists(directory, "checkout-12-34.pb.gz"));
  CHECK_EQUAL(sp_profile_files_removed(files), 1);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void a_full_disk_leaves_no_partial_file(void) {
  char directory[64];
  sp_settings settings = usual_settings();
  sp_profile_files *files = files_in(directory_new(directory), &settings);
  struct rlimit before, small = {4096, 4096};

  /* A limit of the file size makes write() fail half-way, like a full disk. */
  signal(SIGXFSZ, SIG_IGN);
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  small.rlim_max = before.rlim_max;
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_EQUAL(put(files, 1, 20000), SPANPROF_ERR_IO);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(strstr(spanprof_last_error(), directory) != NULL);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  CHECK(!put(files, 2, 20000));
  CHECK_EQUAL(directory_count(directory, ""), 1);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void a_changed_working_directory_does_not_matter(void) {
  char directory[64], before[4096];
  sp_settings settings = usual_settings();
  sp_profile_files *files;

  CHECK(getcwd(before, sizeof before) != NULL);
  CHECK(chdir(directory_new(directory)) == 0);
  files = files_in("profiles", &settings);
  CHECK(chdir("/") == 0);
  CHECK(!put(files, 1, 0));
  CHECK(exists(directory, "profiles/checkout-%d-1.pb.gz", getpid()));
  CHECK(chdir(before) == 0);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void write_some(const sp_mem *mem) {
  char directory[64];
  sp_settings settings = usual_settings();
  sp_profile_files *files;
  uint64_t now_ns, i;

  settings.output_directory = directory_new(directory);
  settings.output_max_bytes = 30000;
  now_ns = sp_clock_unix_ns(&test_time.clock);
  if (!sp_profile_files_new(&files, mem, &settings, &test_time.clock,
                            &test_log)) {
    for (i = 0; i < 6; i++)
      CHECK(!put(files, now_ns + i, 10000));
    sp_profile_files_free(files);
  }
  directory_remove(directory);
}

static void writing_survives_failing_memory(void) {
  failing_mem_sweep(write_some);
}

/* A clock that was set forward may be wrong, and be set back later. Files that
 * were removed before that would be lost. */
static void a_clock_set_forward_removes_nothing_for_a_day(void) {
  char directory[64];
  sp_settings settings = usual_settings();
  sp_profile_files *files = files_in(directory_new(directory), &settings);
  uint64_t time_ns = sp_clock_unix_ns(&test_time.clock), i;
  const uint64_t month_ns = 30 * 24 * 3600 * SP_NS_PER_S;

  for (i = 0; i < 5; i++)
    CHECK(!put(files, time_ns + i, 100));
  test_time.unix_ns += month_ns;
  CHECK(!put(files, time_ns + month_ns, 100));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 6);
  /* A clock that has stayed changed for a day is trusted. */
  test_time.jumped_ns += 25 * 3600 * SP_NS_PER_S;
  CHECK(!put(files, time_ns + month_ns + 1, 100));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 2);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void after_a_clock_was_set_back_new_profiles_stay(void) {
  const uint64_t hour_ns = 3600 * SP_NS_PER_S;
  char directory[64], name[128];
  sp_settings settings = usual_settings();
  sp_profile_files *files;
  uint64_t now_ns, i;

  settings.output_max_bytes = 100000;
  settings.output_max_age_s = 60;
  files = files_in(directory_new(directory), &settings);
  now_ns = sp_clock_unix_ns(&test_time.clock);
  for (i = 1; i <= 2; i++) {
    snprintf(name, sizeof name, "checkout-12-%llu.pb.gz",
             (unsigned long long)(now_ns + i * hour_ns));
    touch(directory, name, 45000);
  }
  touch(directory, "checkout-12-34.pb.gz", 100);
  CHECK(!put(files, now_ns, 100));
  CHECK(!exists(directory, "checkout-12-34.pb.gz"));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 3);
  for (i = 1; i <= 3; i++)
    CHECK(!put(files, now_ns + i, 10000));
  for (i = 0; i <= 3; i++)
    CHECK(exists(directory, "checkout-%d-%llu.pb.gz", getpid(),
                 (unsigned long long)(now_ns + i)));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 5);
  sp_profile_files_free(files);
  directory_remove(directory);
}

/* The limit covers the files of all processes, but a process knows the files of
 * the others only after it has read the directory again. */
static void the_size_limit_covers_all_processes(void) {
  char directory[64];
  sp_settings settings = usual_settings();
  sp_profile_files *files;
  uint64_t now_ns;

  settings.output_max_bytes = 100000;
  files = files_in(directory_new(directory), &settings);
  now_ns = sp_clock_unix_ns(&test_time.clock);
  CHECK(!put(files, now_ns, 100));
  touch(directory, "checkout-12-34.pb.gz", 99000);
  CHECK(!put(files, now_ns + 1, 5000));
  CHECK(!exists(directory, "checkout-12-34.pb.gz"));
  touch(directory, "checkout-12-34.pb.gz", 99900);
  CHECK(!put(files, now_ns + 2, 100));
  CHECK(exists(directory, "checkout-12-34.pb.gz"));
  test_time.jumped_ns += 60 * SP_NS_PER_S;
  CHECK(!put(files, now_ns + 3, 100));
  CHECK(!exists(directory, "checkout-12-34.pb.gz"));
  sp_profile_files_free(files);
  directory_remove(directory);
}

/* Without the hash, both names would become "____". */
static void applications_with_non_ascii_names_are_distinguished(void) {
  char directory[64];
  sp_settings one = usual_settings(), two = usual_settings();
  sp_profile_files *files;
  uint64_t time_ns, i;

  one.application_name = (char *)"\xd1\x8f\xd1\x8e";
  two.application_name = (char *)"\xd0\xb0\xd0\xb1";
  two.output_max_bytes = 100;
  files = files_in(directory_new(directory), &one);
  time_ns = sp_clock_unix_ns(&test_time.clock);
  for (i = 0; i < 5; i++)
    CHECK(!put(files, time_ns + i, 500));
  sp_profile_files_free(files);
  files = files_in(directory, &two);
  CHECK(!put(files, time_ns + 5, 500));
  CHECK_EQUAL(directory_count(directory, ".pb.gz"), 6);
  sp_profile_files_free(files);
  directory_remove(directory);
}

static void a_directory_that_others_can_write_to_is_not_used(void) {
  char directory[64];
  sp_settings settings = usual_settings();
  sp_profile_files *files = files_in(directory_new(directory), &settings);

  CHECK(!put(files, 1, 100));
  CHECK(chmod(directory, 0777) == 0);
  CHECK_EQUAL(put(files, 2, 100), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), "its mode is 0777") != NULL);
  CHECK_EQUAL(directory_count(directory, ""), 1);
  sp_profile_files_free(files);
  directory_remove(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_profile_becomes_a_private_file", a_profile_becomes_a_private_file},
      {"a_missing_last_path_component_is_created",
       a_missing_last_path_component_is_created},
      {"a_file_is_refused_as_directory", a_file_is_refused_as_directory},
      {"the_oldest_files_beyond_the_size_limit_are_removed",
       the_oldest_files_beyond_the_size_limit_are_removed},
      {"files_beyond_the_age_limit_are_removed",
       files_beyond_the_age_limit_are_removed},
      {"only_files_of_the_application_are_removed",
       only_files_of_the_application_are_removed},
      {"a_full_disk_leaves_no_partial_file",
       a_full_disk_leaves_no_partial_file},
      {"a_changed_working_directory_does_not_matter",
       a_changed_working_directory_does_not_matter},
      {"writing_survives_failing_memory", writing_survives_failing_memory},
      {"a_clock_set_forward_removes_nothing_for_a_day",
       a_clock_set_forward_removes_nothing_for_a_day},
      {"after_a_clock_was_set_back_new_profiles_stay",
       after_a_clock_was_set_back_new_profiles_stay},
      {"the_size_limit_covers_all_processes",
       the_size_limit_covers_all_processes},
      {"applications_with_non_ascii_names_are_distinguished",
       applications_with_non_ascii_names_are_distinguished},
      {"a_directory_that_others_can_write_to_is_not_used",
       a_directory_that_others_can_write_to_is_not_used},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
