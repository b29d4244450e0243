#include "stress_run.h"

#include <errno.h>

/* Maximum time to wait for the counters after a stop. A signal that is pending
 * when its timer is deleted is counted when it arrives, which is when its
 * thread runs again. */
#define RUN_SETTLE_NS (2 * STRESS_NS_PER_S)

static void run_log(void *data, spanprof_log_level level, const char *message) {
  stress_run *run = data;
  size_t room, bytes = strlen(message);

  (void)level;
  pthread_mutex_lock(&run->log_lock);
  room = sizeof run->log - 1 - run->log_bytes;
  if (bytes + 1 <= room) {
    memcpy(run->log + run->log_bytes, message, bytes);
    run->log_bytes += bytes;
    run->log[run->log_bytes++] = '\n';
    run->log[run->log_bytes] = '\0';
  }
  pthread_mutex_unlock(&run->log_lock);
}

void stress_run_init(stress_run *run, const char *name) {
  memset(run, 0, sizeof *run);
  pthread_mutex_init(&run->log_lock, NULL);
  tally_init(&run->sum);
  STRESS_OK(spanprof_options_init(&run->options, sizeof run->options));
  run->options.application_name = name;
  run->options.upload_interval_ms = 200;
  run->options.on_profile = tally_profile;
  run->options.on_profile_data = &run->sum;
  run->options.log = run_log;
  run->options.log_data = run;
}

void stress_run_start(stress_run *run) {
  tally_sample_fn on_sample = run->sum.on_sample;
  void *on_sample_data = run->sum.on_sample_data;

  tally_dispose(&run->sum);
  tally_init(&run->sum);
  run->sum.on_sample = on_sample;
  run->sum.on_sample_data = on_sample_data;
  STRESS_OK(spanprof_session_start(&run->options, &run->session));
}

spanprof_stats stress_stats(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};

  STRESS_OK(spanprof_stats_get(&stats));
  return stats;
}

uint64_t stress_stats_dropped(const spanprof_stats *s) {
  return s->samples_dropped_full + s->samples_dropped_memory +
         s->samples_dropped_export + s->samples_dropped_stop;
}

static bool stats_balanced(const spanprof_stats *s) {
  return s->samples_pending == 0 &&
         s->samples_taken == s->samples_exported + stress_stats_dropped(s) &&
         s->ticks_taken == s->ticks_exported + s->ticks_dropped;
}

/* Returns the number of timers of this process, or -1 if the kernel does not
 * report it. */
static int timers_count(void) {
  FILE *file = fopen("/proc/self/timers", "re");
  char line[256];
  int count = 0;

  if (!file)
    return -1;
  while (fgets(line, sizeof line, file))
    count += strncmp(line, "ID:", 3) == 0;
  fclose(file);
  return count;
}

void stress_run_print(const stress_run *run) {
  const spanprof_stats *s = &run->stats;

  printf("samples %llu = exported %llu + dropped %llu (full %llu memory %llu "
         "export %llu stop %llu); ticks %llu; "
         "profiles %llu\n",
         (unsigned long long)s->samples_taken,
         (unsigned long long)s->samples_exported,
         (unsigned long long)stress_stats_dropped(s),
         (unsigned long long)s->samples_dropped_full,
         (unsigned long long)s->samples_dropped_memory,
         (unsigned long long)s->samples_dropped_export,
         (unsigned long long)s->samples_dropped_stop,
         (unsigned long long)s->ticks_taken,
         (unsigned long long)s->profiles_made);
}

void stress_run_stop(stress_run *run, uint32_t timeout_ms) {
  uint64_t start_ns = stress_now_ns();
  spanprof_status st = spanprof_session_stop(run->session, timeout_ms);

  run->stop_ns = stress_now_ns() - start_ns;
  STRESS_REQUIRE(st == SPANPROF_OK || st == SPANPROF_ERR_TIMEOUT ||
                     st == SPANPROF_ERR_IO,
                 "the stop failed: %s", spanprof_status_text(st));
  STRESS_REQUIRE(!spanprof_session_current(),
                 "a session still runs after the stop");
  run->stats = stress_stats();
  while (!stats_balanced(&run->stats) &&
         stress_now_ns() - start_ns < run->stop_ns + RUN_SETTLE_NS) {
    stress_sleep_ms(5);
    run->stats = stress_stats();
  }
  if (!stats_balanced(&run->stats))
    stress_run_print(run);
  STRESS_REQUIRE(stats_balanced(&run->stats),
                 "samples taken %llu, exported %llu, dropped %llu, pending "
                 "%llu; ticks taken %llu, exported %llu, dropped %llu",
                 (unsigned long long)run->stats.samples_taken,
                 (unsigned long long)run->stats.samples_exported,
                 (unsigned long long)stress_stats_dropped(&run->stats),
                 (unsigned long long)run->stats.samples_pending,
                 (unsigned long long)run->stats.ticks_taken,
                 (unsigned long long)run->stats.ticks_exported,
                 (unsigned long long)run->stats.ticks_dropped);
  STRESS_REQUIRE(timers_count() <= 0, "%d timers are left", timers_count());
  if (run->options.on_profile != tally_profile)
    return;
  pthread_mutex_lock(&run->sum.lock);
  STRESS_REQUIRE(run->sum.samples == run->stats.samples_exported &&
                     run->sum.ticks == run->stats.ticks_exported,
                 "delivered %llu samples and %llu ticks, exported %llu and "
                 "%llu",
                 (unsigned long long)run->sum.samples,
                 (unsigned long long)run->sum.ticks,
                 (unsigned long long)run->stats.samples_exported,
                 (unsigned long long)run->stats.ticks_exported);
  pthread_mutex_unlock(&run->sum.lock);
}

void stress_run_dispose(stress_run *run) {
  tally_dispose(&run->sum);
  pthread_mutex_destroy(&run->log_lock);
}

bool stress_run_logged(stress_run *run, const char *text) {
  bool found;

  pthread_mutex_lock(&run->log_lock);
  found = strstr(run->log, text) != NULL;
  pthread_mutex_unlock(&run->log_lock);
  return found;
}
