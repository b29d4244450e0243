#include "export/spool/spool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "export_fixture.h"
#include "failing_mem.h"
#include "sample_pprof.h"

static test_clock test_time;
static sp_settings spool_settings;
static sp_series spool_series;
static uint64_t dropped_count, dropped_samples;
static const char *lost_why;

static void on_lost(void *data, const sp_spool_entry *entry, const char *why) {
  (void)data;
  dropped_count++;
  dropped_samples += entry->samples;
  lost_why = why;
}

static sp_spool *spool_in(const char *directory) {
  sp_spool *spool;

  spool_settings.spool_directory = (char *)(size_t)directory;
  dropped_count = dropped_samples = 0;
  CHECK(!sp_spool_new(&spool, &sp_mem_default, &spool_settings,
                      &test_time.clock, on_lost, NULL));
  return spool;
}

static uint64_t now_unix_ns(void) {
  return sp_clock_unix_ns(&test_time.clock);
}

static uint64_t now_ns(void) {
  return sp_clock_monotonic_ns(&test_time.clock);
}

static spanprof_status put(sp_spool *spool, uint64_t time_ns, size_t filler) {
  sp_encoded part = sample_pprof(&sp_mem_default, time_ns, 5, 50, filler);
  sp_upload *upload = sp_upload_new(&sp_mem_default, &part, now_ns());
  spanprof_status st = sp_spool_put(spool, upload, &spool_series);

  sp_upload_free(&sp_mem_default, upload);
  return st;
}

static void a_stored_profile_is_read_back(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));
  uint64_t time_ns = now_unix_ns();
  sp_encoded part = sample_pprof(&sp_mem_default, time_ns, 5, 50, 1000);
  const char *name = NULL, *value = NULL;
  sp_spool_entry *entry;
  sp_spool_file file;

  CHECK(!put(spool, time_ns, 1000));
  entry = sp_spool_next(spool, now_ns());
  CHECK(entry != NULL);
  CHECK(entry->own);
  CHECK_EQUAL(entry->samples, 5);
  CHECK_EQUAL(entry->ticks, 6);
  CHECK(!sp_spool_read(spool, entry, &file));
  CHECK_EQUAL(file.part.time_ns, time_ns);
  CHECK_EQUAL(file.part.duration_ns, 10 * SP_NS_PER_S);
  CHECK_EQUAL(file.part.samples, 5);
  CHECK_EQUAL(file.part.ticks, 6);
  CHECK_EQUAL(file.part.cpu_ns, 50);
  CHECK_EQUAL(file.part.size, part.size);
  CHECK(memcmp(file.part.bytes, part.bytes, part.size) == 0);
  CHECK_EQUAL(file.series.count, spool_series.count);
  CHECK(sp_series_next(&file.series, &name, &value));
  CHECK_TEXT(name, "__name__");
  sp_spool_file_dispose(&file);
  sp_encoded_dispose(&part);
  sp_spool_remove(spool, entry);
  CHECK(sp_spool_next(spool, now_ns()) == NULL);
  sp_spool_free(spool);
  /* A home is the directory of a process in the spool (spool_home.h). An empty
   * home is removed. */
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void files_are_private(void) {
  char directory[64], pattern[128];
  sp_spool *spool = spool_in(directory_new(directory));
  mode_t before = umask(0);
  struct stat info;
  FILE *names;

  CHECK(!put(spool, now_unix_ns(), 0));
  umask(before);
  snprintf(pattern, sizeof pattern, "ls -d %s/*/*", directory);
  names = popen(pattern, "r");
  CHECK(names != NULL);
  while (fscanf(names, "%127s", pattern) == 1) {
    CHECK(stat(pattern, &info) == 0);
    CHECK_EQUAL(info.st_mode & 0777, 0600);
  }
  pclose(names);
  sp_spool_free(spool);
  directory_remove(directory);
}

static void the_oldest_is_first_and_retry_times_are_kept(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));
  uint64_t time_ns = now_unix_ns();

  CHECK(!put(spool, time_ns + 2, 0));
  CHECK(!put(spool, time_ns + 1, 0));
  CHECK(!put(spool, time_ns + 3, 0));
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns + 1);
  sp_spool_next(spool, now_ns())->tries.retry_ns = UINT64_MAX - 1;
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns + 2);
  sp_spool_remove(spool, sp_spool_next(spool, now_ns()));
  sp_spool_remove(spool, sp_spool_next(spool, now_ns()));
  CHECK_EQUAL(sp_spool_next_ns(spool), UINT64_MAX - 1);
  sp_spool_free(spool);
  directory_remove(directory);
}

static void the_oldest_beyond_the_size_limit_are_dropped(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));
  uint64_t time_ns = now_unix_ns(), i;

  spool_settings.spool_max_bytes = 10 * 4096;
  sp_spool_free(spool);
  spool = spool_in(directory);
  for (i = 0; i < 25; i++)
    CHECK(!put(spool, time_ns + i, 0));
  CHECK_EQUAL(dropped_count, 15);
  CHECK_EQUAL(dropped_samples, 75);
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns + 15);
  /* A profile that is larger than the whole spool does not replace other
   * profiles. */
  CHECK_EQUAL(put(spool, time_ns + 99, 100000), SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(dropped_count, 15);
  sp_spool_free(spool);
  spool_settings.spool_max_bytes = 64 << 20;
  directory_remove(directory);
}

static void old_entries_are_dropped(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));

  CHECK(!put(spool, now_unix_ns(), 0));
  test_time.jumped_ns += 2600 * SP_NS_PER_S;
  CHECK(!put(spool, now_unix_ns(), 0));
  CHECK(sp_spool_next(spool, now_ns()) != NULL);
  CHECK_EQUAL(dropped_count, 0);
  test_time.jumped_ns += 100 * SP_NS_PER_S;
  CHECK(sp_spool_next(spool, now_ns()) != NULL);
  CHECK_EQUAL(dropped_count, 1);
  CHECK_TEXT(lost_why, "it is older than spool_max_age_s");
  sp_spool_free(spool);
  directory_remove(directory);
}

/* Fork a process that spools `count` profiles and dies. */
static void dead_process(const char *directory, uint64_t time_ns, int count) {
  pid_t pid = fork();
  int status, i;

  CHECK(pid >= 0);
  if (pid == 0) {
    sp_spool *spool = spool_in(directory);

    for (i = 0; i < count; i++)
      if (put(spool, time_ns + (uint64_t)i, 100))
        _exit(1);
    kill(getpid(), SIGKILL);
  }
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFSIGNALED(status));
}

static void files_of_dead_processes_are_taken_over(void) {
  char directory[64];
  uint64_t time_ns = now_unix_ns(), i;
  sp_spool *spool;

  dead_process(directory_new(directory), time_ns, 3);
  CHECK_EQUAL(directory_count(directory, ""), 1);
  spool = spool_in(directory);
  CHECK(!sp_spool_claim(spool));
  for (i = 0; i < 3; i++) {
    sp_spool_entry *entry = sp_spool_next(spool, now_ns());
    sp_spool_file file;

    CHECK(entry != NULL);
    CHECK_EQUAL(entry->time_ns, time_ns + i);
    /* This process does not count the samples of a dead process's profiles. */
    CHECK(!entry->own);
    CHECK_EQUAL(entry->samples, 0);
    CHECK(!sp_spool_read(spool, entry, &file));
    sp_spool_file_dispose(&file);
    sp_spool_remove(spool, entry);
  }
  CHECK(sp_spool_next(spool, now_ns()) == NULL);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  sp_spool_free(spool);
  directory_remove(directory);
}

/* Profiles of this process and of a dead process survive a jump of the clock.
 */
static void a_clock_jump_loses_nothing(void) {
  char directory[64];
  uint64_t time_ns = now_unix_ns();
  sp_spool *spool;

  dead_process(directory_new(directory), time_ns, 1);
  spool = spool_in(directory);
  CHECK(!put(spool, time_ns + 1, 0));
  test_time.unix_ns += 3600 * SP_NS_PER_S;
  CHECK(!sp_spool_claim(spool));
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns);
  test_time.jumped_ns += 1300 * SP_NS_PER_S;
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns);
  CHECK_EQUAL(dropped_count, 0);
  /* The dead process's profile is dropped when half of the maximum age has
   * passed since it was taken over. */
  test_time.jumped_ns += 100 * SP_NS_PER_S;
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns + 1);
  CHECK_EQUAL(dropped_count, 1);
  sp_spool_free(spool);
  test_clock_init(&test_time, 1);
  directory_remove(directory);
}

static void many_dead_processes_are_taken_over_in_turn(void) {
  char directory[64];
  uint64_t time_ns = now_unix_ns();
  sp_spool *spool;
  size_t i, found = 0;

  directory_new(directory);
  for (i = 0; i < 20; i++)
    dead_process(directory, time_ns + i, 1);
  spool_settings.spool_max_bytes = 20 * 4096;
  spool = spool_in(directory);
  spool_settings.spool_max_bytes = 64 << 20;
  CHECK(!sp_spool_claim(spool));
  /* The size limit includes the files of dead processes that are not taken over
   * yet, so one profile is dropped. */
  CHECK(!put(spool, time_ns + 20, 100));
  CHECK_EQUAL(dropped_count, 1);
  for (i = 0; i < 40; i++) {
    sp_spool_entry *entry;

    CHECK(!sp_spool_claim(spool));
    entry = sp_spool_next(spool, now_ns());
    if (entry) {
      found++;
      sp_spool_remove(spool, entry);
    }
  }
  CHECK_EQUAL(found, 20);
  sp_spool_free(spool);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void living_processes_keep_their_files(void) {
  char directory[64], byte = 0;
  int ready[2], end[2];
  uint64_t time_ns = now_unix_ns();
  sp_spool *spool;
  pid_t pid;

  directory_new(directory);
  CHECK(pipe(ready) == 0 && pipe(end) == 0);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    spool = spool_in(directory);
    if (put(spool, time_ns, 100) || write(ready[1], &byte, 1) != 1)
      _exit(1);
    close(end[1]);
    _exit(read(end[0], &byte, 1) != 0);
  }
  close(end[0]);
  CHECK_EQUAL(read(ready[0], &byte, 1), 1);
  spool_settings.spool_max_bytes = 2 * 4096;
  spool = spool_in(directory);
  spool_settings.spool_max_bytes = 64 << 20;
  CHECK(!sp_spool_claim(spool));
  CHECK(sp_spool_next(spool, now_ns()) == NULL);
  /* The second profile does not fit next to the other process's files, and does
   * not replace the first one. */
  CHECK(!put(spool, time_ns, 100));
  CHECK_EQUAL(put(spool, time_ns + 1, 5000), SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(dropped_count, 0);
  sp_spool_remove(spool, sp_spool_next(spool, now_ns()));
  /* After the other process has ended, its files are not taken over yet,
   * because the spool looks for dead processes only once a minute. */
  close(end[1]);
  CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
  CHECK(!sp_spool_claim(spool));
  CHECK(sp_spool_next(spool, now_ns()) == NULL);
  sp_spool_free(spool);
  spool = spool_in(directory);
  CHECK(!sp_spool_claim(spool));
  CHECK(sp_spool_next(spool, now_ns()) != NULL);
  sp_spool_free(spool);
  directory_remove(directory);
}

/* Many processes compete for the files of dead processes. Each file goes to
 * exactly one process. */
static void each_file_is_claimed_once(void) {
  enum { FILES = 40, PROCESSES = 8 };
  char directory[64], byte = 0;
  uint64_t time_ns = now_unix_ns();
  int start[2], results[2], i, total = 0, claimers = 0;
  pid_t pids[PROCESSES];

  dead_process(directory_new(directory), time_ns, FILES);
  CHECK(pipe(start) == 0 && pipe(results) == 0);
  for (i = 0; i < PROCESSES; i++) {
    pids[i] = fork();
    CHECK(pids[i] >= 0);
    if (pids[i] == 0) {
      sp_spool *spool = spool_in(directory);
      sp_spool_entry *entry;
      int count = 0;

      close(start[1]);
      if (read(start[0], &byte, 1) != 0)
        _exit(1);
      sp_spool_claim(spool);
      while ((entry = sp_spool_next(spool, now_ns())) != NULL) {
        count++;
        sp_spool_remove(spool, entry);
      }
      sp_spool_free(spool);
      _exit(write(results[1], &count, sizeof count) != sizeof count);
    }
  }
  close(start[0]);
  close(start[1]);
  for (i = 0; i < PROCESSES; i++) {
    int count, status;

    CHECK_EQUAL(read(results[0], &count, sizeof count), sizeof count);
    total += count;
    claimers += count > 0;
    CHECK_EQUAL(waitpid(pids[i], &status, 0), pids[i]);
    CHECK_EQUAL(status, 0);
  }
  CHECK_EQUAL(total, FILES);
  CHECK_EQUAL(claimers, 1);
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void damaged_files_and_other_files_are_distinguished(void) {
  static const char *const leftovers[] = {"12.profile", ".13.profile.tmp",
                                          "lock"};
  static const char *const foreign[] = {"notes.txt", "x12.profile",
                                        "12.profile.bak"};
  char directory[64], home[128], path[256];
  sp_spool *spool;
  sp_spool_entry *entry;
  sp_spool_file file;
  size_t i;

  snprintf(home, sizeof home, "%s/spanprof-1-2", directory_new(directory));
  CHECK(mkdir(home, 0700) == 0);
  for (i = 0; i < 6; i++) {
    int fd;

    snprintf(path, sizeof path, "%s/%s", home,
             i < 3 ? leftovers[i] : foreign[i - 3]);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "spanprof-spool 1\n1 2 3", 22) == 22);
    close(fd);
  }
  test_time.unix_ns = 3000 * SP_NS_PER_S;
  spool_settings.spool_max_age_s = 1000000;
  spool = spool_in(directory);
  CHECK(!sp_spool_claim(spool));
  entry = sp_spool_next(spool, now_ns());
  CHECK(entry != NULL);
  CHECK_EQUAL(sp_spool_read(spool, entry, &file), SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(dropped_count, 1);
  CHECK(sp_spool_next(spool, now_ns()) == NULL);
  CHECK_EQUAL(directory_count(home, ""), 3);
  sp_spool_free(spool);
  spool_settings.spool_max_age_s = 2700;
  test_clock_init(&test_time, 1);
  directory_remove(directory);
}

static size_t files_in(const char *directory) {
  char command[128];
  FILE *names;
  int count = 0;

  snprintf(command, sizeof command, "ls -A %s/* | grep -c profile", directory);
  names = popen(command, "r");
  CHECK(names != NULL && fscanf(names, "%d", &count) == 1);
  pclose(names);
  return (size_t)count;
}

/* If a process has no free descriptors, its profiles in the spool stay. */
static void without_descriptors_the_files_stay(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));
  struct rlimit limit, none;
  sp_spool_file file;
  uint64_t i;

  for (i = 0; i < 9; i++)
    CHECK(!put(spool, now_unix_ns() + i, 100));
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  none = limit;
  none.rlim_cur = 0;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  for (i = 0; i < 9; i++)
    CHECK_EQUAL(sp_spool_read(spool, sp_spool_next(spool, now_ns()), &file),
                SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), "Too many open files") != NULL);
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK_EQUAL(dropped_count, 0);
  CHECK_EQUAL(files_in(directory), 9);
  CHECK(!sp_spool_read(spool, sp_spool_next(spool, now_ns()), &file));
  sp_spool_file_dispose(&file);
  sp_spool_free(spool);
  directory_remove(directory);
}

/* Homes that other users have planted are reported, and their files are neither
 * sent nor removed. Valid homes are taken over in the same scan. */
static void planted_homes_are_reported(void) {
  char directory[64], victim[64], path[128];
  uint64_t time_ns = now_unix_ns();
  sp_spool *spool;
  int fd;

  dead_process(directory_new(directory), time_ns, 2);
  snprintf(path, sizeof path, "%s/123.profile", directory_new(victim));
  fd = open(path, O_WRONLY | O_CREAT, 0600);
  CHECK(fd >= 0);
  close(fd);
  snprintf(path, sizeof path, "%s/spanprof-1-1", directory);
  CHECK(symlink(victim, path) == 0);
  spool = spool_in(directory);
  CHECK_EQUAL(sp_spool_claim(spool), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), path) != NULL);
  CHECK_EQUAL(directory_count(victim, ".profile"), 1);
  CHECK_EQUAL(dropped_count, 0);
  CHECK_EQUAL(sp_spool_next(spool, now_ns())->time_ns, time_ns);
  sp_spool_free(spool);
  directory_remove(directory);
  directory_remove(victim);
}

/* Both files are in this process's own home, but one is writable by other
 * users, and the other one is a link. */
static void forged_files_are_dropped_unread(void) {
  char directory[64], path[512];
  sp_spool *spool = spool_in(directory_new(directory));
  sp_spool_file file;
  uint64_t i;

  for (i = 0; i < 2; i++) {
    sp_spool_entry *entry;

    CHECK(!put(spool, now_unix_ns(), 100));
    entry = sp_spool_next(spool, now_ns());
    snprintf(path, sizeof path, "%s/%llu.profile", entry->home->path,
             (unsigned long long)entry->time_ns);
    if (i == 0)
      CHECK(chmod(path, 0666) == 0);
    else
      CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    CHECK_EQUAL(sp_spool_read(spool, entry, &file), SPANPROF_ERR_FORMAT);
    CHECK_EQUAL(dropped_count, i + 1);
  }
  sp_spool_free(spool);
  directory_remove(directory);
}

static void a_full_disk_leaves_nothing(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));

  CHECK(!put(spool, now_unix_ns(), 0));
  sp_spool_remove(spool, sp_spool_next(spool, now_ns()));
  directory_remove(directory);
  CHECK_EQUAL(put(spool, now_unix_ns(), 0), SPANPROF_ERR_IO);
  CHECK(strstr(spanprof_last_error(), directory) != NULL);
  CHECK(sp_spool_next(spool, now_ns()) == NULL);
  sp_spool_free(spool);
}

static void a_removed_home_is_created_again(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));
  uint64_t time_ns = now_unix_ns(), i;
  sp_spool_file file;

  for (i = 0; i < 3; i++)
    CHECK(!put(spool, time_ns + i, 0));
  directory_remove(sp_spool_next(spool, now_ns())->home->path);
  CHECK_EQUAL(sp_spool_read(spool, sp_spool_next(spool, now_ns()), &file),
              SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(dropped_count, 1);
  CHECK(!put(spool, time_ns + 3, 0));
  CHECK_EQUAL(dropped_count, 3);
  CHECK(!sp_spool_read(spool, sp_spool_next(spool, now_ns()), &file));
  CHECK_EQUAL(file.part.time_ns, time_ns + 3);
  sp_spool_file_dispose(&file);
  sp_spool_free(spool);
  directory_remove(directory);
}

/* The lock file of this process's home is removed, and another process takes
 * over the home. When this process detects that, it drops its entries, because
 * the other process may send the files. */
static void a_home_taken_by_another_process_is_abandoned(void) {
  char directory[64], path[512], byte = 0;
  int ready[2], end[2];
  sp_spool *spool = spool_in(directory_new(directory));
  sp_spool_home taken;
  const sp_spool_home *home;
  pid_t pid;

  CHECK(!put(spool, now_unix_ns(), 0));
  home = sp_spool_next(spool, now_ns())->home;
  snprintf(path, sizeof path, "%s/lock", home->path);
  CHECK(pipe(ready) == 0 && pipe(end) == 0);
  CHECK(unlink(path) == 0);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    close(end[1]);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    sp_spool_home_init(&taken);
    _exit(sp_spool_home_claim(&taken, &sp_mem_default, directory, home->name,
                              0) ||
          write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 0);
  }
  close(end[0]);
  CHECK_EQUAL(read(ready[0], &byte, 1), 1);
  CHECK(!put(spool, now_unix_ns(), 0));
  CHECK_EQUAL(dropped_count, 1);
  CHECK_EQUAL(files_in(directory), 2);
  CHECK(access(path, F_OK) == 0);
  close(end[1]);
  CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
  sp_spool_free(spool);
  directory_remove(directory);
}

static void a_forked_child_has_a_spool_of_its_own(void) {
  char directory[64];
  sp_spool *spool = spool_in(directory_new(directory));
  int status;
  pid_t pid;

  CHECK(!put(spool, now_unix_ns(), 0));
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    sp_spool_after_fork_child(spool);
    if (sp_spool_next(spool, now_ns()) || sp_spool_claim(spool) ||
        sp_spool_next(spool, now_ns()) || put(spool, now_unix_ns(), 0) ||
        directory_count(directory, "") != 2)
      _exit(1);
    sp_spool_remove(spool, sp_spool_next(spool, now_ns()));
    sp_spool_free(spool);
    _exit(directory_count(directory, "") != 1);
  }
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  /* The child has removed its own home, but the parent's home and profile are
   * still there. */
  CHECK(sp_spool_next(spool, now_ns()) != NULL);
  dead_process(directory, now_unix_ns(), 0);
  sp_spool_free(spool);
  directory_remove(directory);
}

static void spool_some(const sp_mem *mem) {
  char directory[64];
  uint64_t time_ns = now_unix_ns(), i;
  sp_spool *spool;
  sp_spool_entry *entry;
  sp_spool_file file;

  directory_new(directory);
  spool_settings.spool_directory = directory;
  if (!sp_spool_new(&spool, mem, &spool_settings, &test_time.clock, on_lost,
                    NULL)) {
    for (i = 0; i < 20; i++)
      put(spool, time_ns + i, 100);
    while ((entry = sp_spool_next(spool, now_ns())) != NULL) {
      if (!sp_spool_read(spool, entry, &file))
        sp_spool_file_dispose(&file);
      sp_spool_remove(spool, entry);
    }
    sp_spool_free(spool);
  }
  CHECK_EQUAL(directory_count(directory, ""), 0);
  directory_remove(directory);
}

static void spooling_survives_failing_memory(void) {
  failing_mem_sweep(spool_some);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_stored_profile_is_read_back", a_stored_profile_is_read_back},
      {"files_are_private", files_are_private},
      {"the_oldest_is_first_and_retry_times_are_kept",
       the_oldest_is_first_and_retry_times_are_kept},
      {"the_oldest_beyond_the_size_limit_are_dropped",
       the_oldest_beyond_the_size_limit_are_dropped},
      {"old_entries_are_dropped", old_entries_are_dropped},
      {"files_of_dead_processes_are_taken_over",
       files_of_dead_processes_are_taken_over},
      {"a_clock_jump_loses_nothing", a_clock_jump_loses_nothing},
      {"many_dead_processes_are_taken_over_in_turn",
       many_dead_processes_are_taken_over_in_turn},
      {"living_processes_keep_their_files", living_processes_keep_their_files},
      {"each_file_is_claimed_once", each_file_is_claimed_once},
      {"damaged_files_and_other_files_are_distinguished",
       damaged_files_and_other_files_are_distinguished},
      {"without_descriptors_the_files_stay",
       without_descriptors_the_files_stay},
      {"planted_homes_are_reported", planted_homes_are_reported},
      {"forged_files_are_dropped_unread", forged_files_are_dropped_unread},
      {"a_full_disk_leaves_nothing", a_full_disk_leaves_nothing},
      {"a_removed_home_is_created_again", a_removed_home_is_created_again},
      {"a_home_taken_by_another_process_is_abandoned",
       a_home_taken_by_another_process_is_abandoned},
      {"a_forked_child_has_a_spool_of_its_own",
       a_forked_child_has_a_spool_of_its_own},
      {"spooling_survives_failing_memory", spooling_survives_failing_memory},
  };
  int failed;

  test_clock_init(&test_time, 1);
  spool_settings = usual_settings();
  CHECK(!sp_series_init(&spool_series, &sp_mem_default, &spool_settings, NULL));
  failed = check_main(argc, argv, tests, SP_COUNT_OF(tests));
  sp_series_dispose(&spool_series);
  return failed;
}
