/* Measures the cost of profiling: the CPU time of the profiler's threads,
 * including uploads, and of its signal handlers, as a share of the profiled CPU
 * time. */
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_profiles.h"
#include "bench_sink.h"
#include "util/memory/hash.h"

#define OWN_THREADS_MAX 2
#define OWN_WAYS        4    /* number of functions that a function may call */
#define OWN_LEAF_STEPS  8000 /* about 20 µs */

typedef struct own_case {
  const char *what;
  int threads;
  uint32_t paths; /* distinct call paths to the work */
  double bar_percent;
} own_case;

/* The samples have a few more stacks than paths, because the functions of a
 * path are sampled, too. */
static const own_case own_cases[] = {
    {"own CPU, 2 cores, <= 300 stacks", 2, 220, 0.1},
    {"own CPU, 1 core, 1,000 stacks", 1, 1000, 0.2},
};

typedef struct worker {
  pthread_t thread;
  uint32_t paths;
  uint64_t random;
  uint64_t cpu_ns;
} worker;

static volatile bool own_stop;

/* The work: a dependent chain of two operations, so that samples are at few
 * addresses. */
static __attribute__((noinline)) uint64_t leaf_run(uint64_t x) {
  uint32_t i;

  for (i = 0; i < OWN_LEAF_STEPS; i++)
    x = x * UINT64_C(6364136223846793005) + 1;
  return x;
}

/* Returns x as a value that the compiler cannot know. This keeps the compiler
 * from turning a call into a jump or a loop. */
static inline uint64_t value_hide(uint64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}

/* Four functions that call each other according to the digits of `path`. */
typedef uint64_t way_fn(uint64_t x, uint32_t path, int levels);

static way_fn way_0, way_1, way_2, way_3;

#define OWN_WAY(n)                                          \
  static __attribute__((noinline))                          \
  uint64_t way_##n(uint64_t x, uint32_t path, int levels) { \
    uint32_t rest = path / OWN_WAYS;                        \
                                                            \
    if (levels == 0)                                        \
      return value_hide(leaf_run(x));                       \
    switch (path % OWN_WAYS) {                              \
    case 0:                                                 \
      return value_hide(way_0(x, rest, levels - 1));        \
    case 1:                                                 \
      return value_hide(way_1(x, rest, levels - 1));        \
    case 2:                                                 \
      return value_hide(way_2(x, rest, levels - 1));        \
    default:                                                \
      return value_hide(way_3(x, rest, levels - 1));        \
    }                                                       \
  }

OWN_WAY(0)
OWN_WAY(1)
OWN_WAY(2)
OWN_WAY(3)

/* Calls itself, so that all stacks have some frames in common, like the layers
 * of a server. */
static __attribute__((noinline)) uint64_t layer_run(uint64_t x, uint32_t path,
                                                    int layers) {
  if (layers > 0)
    return value_hide(layer_run(x, path, layers - 1));
  return value_hide(way_0(x, path, 5));
}

static void *worker_run(void *data) {
  worker *w = data;
  uint64_t x = 1;

  spanprof_thread_register();
  while (!own_stop)
    x = layer_run(x, bench_random(&w->random) % w->paths, 16);
  w->cpu_ns = bench_cpu_ns() | (x & 0);
  return NULL;
}

/* Returns the CPU time of the profiler's threads, the first field of
 * /proc/PID/schedstat (Linux 6.1, Documentation/scheduler/sched-stats.rst). */
static uint64_t own_threads_cpu_ns(void) {
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *task;
  uint64_t sum_ns = 0;

  while (tasks && (task = readdir(tasks))) {
    char path[300], name[32] = "";
    unsigned long long ns = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    if ((file = fopen(path, "r"))) {
      if (!fgets(name, sizeof name, file))
        name[0] = '\0';
      fclose(file);
    }
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
    if (strncmp(name, "spanprof", 8) == 0 && (file = fopen(path, "r"))) {
      if (fscanf(file, "%llu", &ns) == 1)
        sum_ns += ns;
      fclose(file);
    }
  }
  if (tasks)
    closedir(tasks);
  return sum_ns;
}

/* The distinct stacks of all profiles, by a hash of their addresses. */
typedef struct stack_set {
  uint64_t *hashes;
  size_t count;
  size_t capacity;
  uint64_t samples;
  uint64_t frames;
} stack_set;

static void stack_add(void *data, const sp_pprof *profile,
                      const sp_pprof_sample *sample, uint64_t cpu_ns) {
  stack_set *set = data;
  uint64_t hash = 1;
  size_t i;

  (void)cpu_ns;
  for (i = 0; i < sample->location_count; i++)
    hash = sp_hash_mix(hash, profile->locations[sample->locations[i]].address);
  set->samples++;
  set->frames += sample->location_count;
  for (i = 0; i < set->count; i++)
    if (set->hashes[i] == hash)
      return;
  if (set->count == set->capacity) {
    set->capacity = set->capacity ? 2 * set->capacity : 1024;
    set->hashes = realloc(set->hashes, set->capacity * sizeof *set->hashes);
    if (!set->hashes)
      bench_die("no memory");
  }
  set->hashes[set->count++] = hash;
}

static void case_tell(const own_case *of, const spanprof_stats *stats,
                      uint64_t cpu_ns, uint64_t own_ns,
                      bench_profiles *profiles) {
  uint64_t threads_ns = stats->collector_cpu_ns + stats->uploader_cpu_ns;
  double percent =
      100.0 * (double)(threads_ns + stats->handler_ns) / (double)cpu_ns;
  char measured[64], bar[32], comparison[160];
  stack_set stacks = {0};

  bench_profiles_each(profiles, stack_add, &stacks);
  bench_print(
      "%s: %.1f s of CPU, %llu samples, %zu distinct stacks of %.0f "
      "frames; handlers %.2f ms, collector %.2f ms, uploader %.2f ms; "
      "by the scheduler's clock, the threads %.2f ms; %llu profiles, %llu "
      "bytes sent",
      of->what, (double)cpu_ns / 1e9, (unsigned long long)stats->samples_taken,
      stacks.count,
      (double)stacks.frames / (double)(stacks.samples + !stacks.samples),
      (double)stats->handler_ns / 1e6, (double)stats->collector_cpu_ns / 1e6,
      (double)stats->uploader_cpu_ns / 1e6, (double)own_ns / 1e6,
      (unsigned long long)stats->profiles_sent,
      (unsigned long long)stats->bytes_sent);
  snprintf(measured, sizeof measured, "%.3f %%", percent);
  snprintf(bar, sizeof bar, "<= %.1f %%", of->bar_percent);
  snprintf(comparison, sizeof comparison,
           "%.1f us a sample: handler %.1f, collector %.1f, uploader %.1f",
           (double)(threads_ns + stats->handler_ns) / 1e3 /
               (double)stats->samples_taken,
           (double)stats->handler_ns / 1e3 / (double)stats->samples_taken,
           (double)stats->collector_cpu_ns / 1e3 / (double)stats->samples_taken,
           (double)stats->uploader_cpu_ns / 1e3 / (double)stats->samples_taken);
  bench_bar(of->what, measured, bar, comparison, percent <= of->bar_percent);
  free(stacks.hashes);
}

static void case_run(const own_case *of, const char *server) {
  spanprof_stats stats = {.struct_size = sizeof stats};
  bench_profiles profiles = BENCH_PROFILES_INIT;
  worker workers[OWN_THREADS_MAX];
  uint64_t own_ns, cpu_ns = 0;
  spanprof_session *session;
  spanprof_options options;
  int i;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "bench-own-cost";
  options.server_address = server;
  options.on_profile = bench_profiles_add;
  options.on_profile_data = &profiles;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  for (i = 0; i < of->threads; i++) {
    workers[i] = (worker){.paths = of->paths, .random = (uint64_t)i + 1};
    if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0)
      bench_die("no thread");
  }
  bench_sleep_ns((bench_quick() ? 2 : 70) * BENCH_NS_PER_S);
  own_stop = true;
  for (i = 0; i < of->threads; i++) {
    pthread_join(workers[i].thread, NULL);
    cpu_ns += workers[i].cpu_ns;
  }
  if (spanprof_session_flush(session, 5000) != SPANPROF_OK)
    bench_die("the last profile was not sent within 5 s");
  own_ns = own_threads_cpu_ns();
  spanprof_session_stop(session, 2000);
  spanprof_stats_get(&stats);
  if (stats.profiles_sent == 0 || stats.samples_taken == 0)
    bench_die("nothing was profiled and sent");
  case_tell(of, &stats, cpu_ns, own_ns, &profiles);
  bench_profiles_dispose(&profiles);
}

/* Each case runs in its own process, so that the profiler's start is included.
 */
int main(void) {
  const char *server = bench_sink_start();
  int failed = 0, status;
  size_t i;

  for (i = 0; i < sizeof own_cases / sizeof own_cases[0]; i++) {
    pid_t child = fork();

    if (child == 0) {
      case_run(&own_cases[i], server);
      exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      failed = 1;
  }
  return failed;
}
