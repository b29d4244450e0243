/* The output directory and the spool are on a file system of 12 KB, which fills
 * up, and the server is down. If the program may not mount a file system,
 * RLIMIT_FSIZE limits the files instead. The program continues, profiles that
 * do not fit are dropped and counted, and no file is incomplete. */
#include "stress_run.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define FULL_WORKERS 2

static char full_directory[] = "/tmp/spanprof-full-XXXXXX";
static char full_output[64], full_spool[64];
static uint64_t work_until_ns;
static bool disk_mounted;

/* Mount a file system that only this process sees. The kernel removes it when
 * the process ends. Returns false if mounting is not allowed. */
static bool disk_mount(void) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("tmpfs", full_directory, "tmpfs", 0, "size=12k") == 0;
}

static void disk_limit(void) {
  struct rlimit limit = {.rlim_cur = 512, .rlim_max = 512};

  signal(SIGXFSZ, SIG_IGN);
  STRESS_REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
}

static void *worker_run(void *data) {
  uint64_t random = (uintptr_t)data;

  while (stress_now_ns() < work_until_ns) {
    spanprof_label_token token;
    char value[32];

    snprintf(value, sizeof value, "value %u", stress_random(&random));
    STRESS_OK(
        spanprof_label_push_bytes("many", 4, value, strlen(value), &token));
    stress_burn(STRESS_NS_PER_MS);
    spanprof_label_pop(token);
  }
  return NULL;
}

static void directory_empty(const char *directory) {
  DIR *entries = opendir(directory);
  struct dirent *entry;
  char path[4096];

  while (entries && (entry = readdir(entries))) {
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (entry->d_name[0] != '.' && unlink(path) != 0)
      directory_empty(path);
  }
  if (entries)
    closedir(entries);
  rmdir(directory);
}

static void workers_run(uint64_t for_ns) {
  pthread_t threads[FULL_WORKERS];
  uintptr_t i;

  work_until_ns = stress_now_ns() + for_ns;
  for (i = 0; i < FULL_WORKERS; i++)
    pthread_create(&threads[i], NULL, worker_run, (void *)(i + 1));
  for (i = 0; i < FULL_WORKERS; i++)
    pthread_join(threads[i], NULL);
}

/* Run a session with an output directory and a spool, or with only a spool. */
static void disk_try(bool output, uint64_t for_ns) {
  static stress_run run;
  size_t file_count = 0;
  tally files;

  STRESS_REQUIRE(mkdir(full_output, 0700) == 0 && mkdir(full_spool, 0700) == 0,
                 "no directory");
  stress_run_init(&run, "disk_full");
  run.options.on_profile = NULL;
  run.options.output_directory = output ? full_output : NULL;
  run.options.spool_directory = full_spool;
  run.options.server_address = "http://127.0.0.1:9";
  run.options.proxy = "";
  run.options.queue_bytes = 65536;
  run.options.upload_interval_ms = 100;
  stress_run_start(&run);
  workers_run(for_ns);
  stress_run_stop(&run, 2000);
  tally_init(&files);
  file_count = tally_directory(&files, full_output, "disk_full");
  printf("%s: %zu files of %llu ticks, %llu ticks exported; profiles written "
         "%llu, spooled %llu, dropped %llu; ",
         output ? "output and spool" : "spool alone", file_count,
         (unsigned long long)files.ticks,
         (unsigned long long)run.stats.ticks_exported,
         (unsigned long long)run.stats.profiles_written,
         (unsigned long long)run.stats.profiles_spooled,
         (unsigned long long)run.stats.profiles_dropped);
  stress_run_print(&run);
  STRESS_REQUIRE(
      run.stats.profiles_dropped > 0 &&
          run.stats.samples_dropped_export + run.stats.samples_dropped_stop > 0,
      "nothing was dropped");
  STRESS_REQUIRE(files.ticks <= run.stats.ticks_exported,
                 "the files have more ticks than count as exported");
  STRESS_REQUIRE(output || run.stats.profiles_spooled > 0 || !disk_mounted,
                 "nothing was spooled");
  STRESS_REQUIRE(run.log_bytes > 0, "nothing was logged");
  tally_dispose(&files);
  directory_empty(full_output);
  directory_empty(full_spool);
  stress_run_dispose(&run);
}

int main(void) {
  uint64_t half_ns;

  stress_begin();
  half_ns = stress_seconds() * STRESS_NS_PER_S / 2;
  STRESS_REQUIRE(mkdtemp(full_directory), "no directory");
  snprintf(full_output, sizeof full_output, "%s/output", full_directory);
  snprintf(full_spool, sizeof full_spool, "%s/spool", full_directory);
  disk_mounted = disk_mount();
  printf("%s\n", disk_mounted ? "12 KB mounted" : "files of 512 bytes");
  if (!disk_mounted)
    disk_limit();
  stress_wall_hz(STRESS_TSAN ? "100" : "1000");
  disk_try(true, half_ns);
  disk_try(false, half_ns);
  if (disk_mounted)
    umount(full_directory);
  rmdir(full_directory);
  return 0;
}
