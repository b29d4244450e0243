/* Output and spool lie on a file system of 64 KB that fills up (or, without the
 * right to mount one, under RLIMIT_FSIZE), and the server is down: all goes on,
 * what finds no room is dropped and counted, no file is left cut. */
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

/* A mount that no other process sees, and that ends with this one. */
static bool disk_mount(void) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("tmpfs", full_directory, "tmpfs", 0, "size=64k") == 0;
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
    STRESS_OK(spanprof_label_push("many", 4, value, strlen(value), &token));
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

int main(void) {
  pthread_t threads[FULL_WORKERS];
  static stress_run run;
  size_t file_count;
  bool mounted;
  tally files;
  uintptr_t i;

  work_until_ns = stress_begin();
  STRESS_REQUIRE(mkdtemp(full_directory), "no directory");
  mounted = disk_mount();
  snprintf(full_output, sizeof full_output, "%s/output", full_directory);
  snprintf(full_spool, sizeof full_spool, "%s/spool", full_directory);
  STRESS_REQUIRE(mkdir(full_output, 0700) == 0 && mkdir(full_spool, 0700) == 0,
                 "no directory");
  if (!mounted)
    disk_limit();
  stress_wall_hz("1000");
  stress_run_init(&run, "disk_full");
  run.options.on_profile = NULL;
  run.options.output_directory = full_output;
  run.options.spool_directory = full_spool;
  run.options.server_address = "http://127.0.0.1:9";
  run.options.proxy = "";
  run.options.queue_bytes = 65536;
  stress_run_start(&run);
  for (i = 0; i < FULL_WORKERS; i++)
    pthread_create(&threads[i], NULL, worker_run, (void *)(i + 1));
  for (i = 0; i < FULL_WORKERS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 2000);
  tally_init(&files);
  file_count = tally_directory(&files, full_output, "disk_full");
  printf("%s: %zu files of %llu ticks; %llu spooled; ",
         mounted ? "64 KB mounted" : "files of 512 bytes", file_count,
         (unsigned long long)files.ticks,
         (unsigned long long)run.stats.profiles_spooled);
  stress_run_tell(&run);
  STRESS_REQUIRE(
      run.stats.profiles_dropped > 0 &&
          run.stats.samples_dropped_export + run.stats.samples_dropped_stop > 0,
      "nothing was dropped");
  STRESS_REQUIRE(files.ticks <= run.stats.ticks_exported,
                 "a file that is not counted");
  STRESS_REQUIRE(run.log_bytes > 0, "nothing was logged");
  tally_dispose(&files);
  directory_empty(full_output);
  directory_empty(full_spool);
  if (mounted)
    umount(full_directory);
  rmdir(full_directory);
  stress_run_dispose(&run);
  return 0;
}
