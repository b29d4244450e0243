/* Checks whether the samples of a thread add up to its CPU time, if it is busy
 * all the time, or in bursts between sleeps. */
#include <pthread.h>

#include "bench.h"
#include "bench_profiles.h"
#include "burn.h"

#define ACCURACY_THREADS_MAX 16
#define ACCURACY_SLEEP_NS    BENCH_NS_PER_MS
#define ACCURACY_BAR_PERCENT 2.0

typedef struct accuracy_case {
  int threads;
  uint64_t burst_ns; /* CPU time of a burst between two sleeps; 0: always
                      * busy */
} accuracy_case;

/* Lengths of the bursts in µs. Each length is run with each number of threads.
 */
static const uint32_t accuracy_bursts_us[] = {0, 200, 500, 1000, 3000};
static const int accuracy_threads[] = {1, 4, 16};
#define ACCURACY_BURSTS 5
#define ACCURACY_WIDTHS 3
#define ACCURACY_CASES  (ACCURACY_BURSTS * ACCURACY_WIDTHS)

typedef struct accuracy_thread {
  pthread_t thread;
  accuracy_case of;
  uint64_t wanted_ns; /* CPU time to use */
  char label[16];
  uint64_t cpu_ns;
  uint64_t sampled_ns;
} accuracy_thread;

static accuracy_thread accuracy_all[ACCURACY_CASES][ACCURACY_THREADS_MAX];

static void *thread_run(void *data) {
  accuracy_thread *t = data;
  spanprof_label_token token;
  uint64_t start_ns, end_ns;

  if (spanprof_label_push_bytes("thread", 6, t->label, strlen(t->label),
                                &token) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  start_ns = bench_cpu_ns();
  end_ns = start_ns + t->wanted_ns;
  if (t->of.burst_ns == 0)
    burn_cpu_ns(t->wanted_ns);
  while (bench_cpu_ns() < end_ns) {
    burn_cpu_ns(t->of.burst_ns);
    bench_sleep_ns(ACCURACY_SLEEP_NS);
  }
  t->cpu_ns = bench_cpu_ns() - start_ns;
  return NULL;
}

static void case_run(size_t number) {
  int i, threads = accuracy_threads[number % ACCURACY_WIDTHS];
  uint64_t burst_us = accuracy_bursts_us[number / ACCURACY_WIDTHS];

  for (i = 0; i < threads; i++) {
    accuracy_thread *t = &accuracy_all[number][i];

    t->of = (accuracy_case){.threads = threads, .burst_ns = burst_us * 1000};
    t->wanted_ns =
        bench_quick() ? 100 * BENCH_NS_PER_MS : 5200 * BENCH_NS_PER_MS;
    snprintf(t->label, sizeof t->label, "%zu.%d", number, i);
    if (pthread_create(&t->thread, NULL, thread_run, t) != 0)
      bench_die("no thread");
  }
  for (i = 0; i < threads; i++)
    pthread_join(accuracy_all[number][i].thread, NULL);
}

static void sample_add(void *data, const sp_pprof *profile,
                       const sp_pprof_sample *sample, uint64_t cpu_ns) {
  const char *label = sp_pprof_label_text(sample, "thread");
  unsigned number, thread;

  (void)data, (void)profile;
  if (!label || sscanf(label, "%u.%u", &number, &thread) != 2 ||
      number >= ACCURACY_CASES || thread >= ACCURACY_THREADS_MAX)
    return;
  accuracy_all[number][thread].sampled_ns += cpu_ns;
}

/* Returns the largest deviation of a thread's samples from its CPU time in this
 * case, in percent. */
static double case_worst(size_t number) {
  int i, threads = accuracy_threads[number % ACCURACY_WIDTHS];
  double worst = 0, sampled = 0, cpu = 0;
  char kind[32] = "busy";

  for (i = 0; i < threads; i++) {
    const accuracy_thread *t = &accuracy_all[number][i];
    double off = 100.0 * ((double)t->sampled_ns / (double)t->cpu_ns - 1);

    if (off * off > worst * worst)
      worst = off;
    sampled += (double)t->sampled_ns;
    cpu += (double)t->cpu_ns;
  }
  if (number / ACCURACY_WIDTHS > 0)
    snprintf(kind, sizeof kind, "bursts of %.1f ms",
             accuracy_bursts_us[number / ACCURACY_WIDTHS] / 1e3);
  bench_print("  %-16s x %2d threads: %6.2f s of CPU each, all %+.2f %%, the "
              "worst thread %+.2f %%",
              kind, threads, cpu / threads / 1e9, 100 * (sampled / cpu - 1),
              worst);
  return worst;
}

int main(void) {
  bench_profiles profiles = BENCH_PROFILES_INIT;
  spanprof_stats stats = {.struct_size = sizeof stats};
  double worst = 0, off, limit;
  spanprof_session *session;
  spanprof_options options;
  char measured[48], comparison[96];
  size_t i;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "bench-accuracy";
  options.on_profile = bench_profiles_add;
  options.on_profile_data = &profiles;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  for (i = 0; i < ACCURACY_CASES; i++)
    case_run(i);
  if (spanprof_session_stop(session, 5000) != SPANPROF_OK)
    bench_die("the last profile was not handed out within 5 s");
  bench_profiles_each(&profiles, sample_add, NULL);
  spanprof_stats_get(&stats);
  bench_print("weighted samples against the threads' clocks:");
  for (i = 0; i < ACCURACY_CASES; i++) {
    off = case_worst(i);
    if (off * off > worst * worst)
      worst = off;
  }
  snprintf(measured, sizeof measured, "%+.2f %% (worst thread)", worst);
  snprintf(comparison, sizeof comparison,
           "%llu of %llu ticks were late, and counted with the next sample",
           (unsigned long long)stats.ticks_overrun,
           (unsigned long long)stats.ticks_taken);
  /* A short run has few ticks, and its result may be wrong by one tick. */
  limit = ACCURACY_BAR_PERCENT + (bench_quick() ? 10 : 0);
  bench_bar("samples / true CPU, per thread", measured,
            bench_quick() ? "within 2 % + 1 tick" : "within 2 %", comparison,
            worst <= limit && worst >= -limit);
  bench_profiles_dispose(&profiles);
  return 0;
}
