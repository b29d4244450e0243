/* Checks whether samples belong to the right span. Eight threads work in nested
 * spans, each kind of span in its own function. They add up the time of each
 * kind, by their CPU clocks. */
#include <pthread.h>

#include "bench.h"
#include "bench_profiles.h"

#define ATTRIBUTION_THREADS 8
#define ATTRIBUTION_DEPTH   4
#define ATTRIBUTION_TRIALS  2000
/* Steps between two readings of the clock, about 4 µs. */
#define ATTRIBUTION_STEP 1500

static volatile uint32_t burn_sink;

/* The functions have the same shape, but each has its own address and name. A
 * thread that reads its CPU time all the time gets no samples
 * (tests/core/burn.h), so the functions mostly read another clock. */
#define ATTRIBUTION_BURN(name)                                         \
  static __attribute__((noinline)) void burn_##name(uint64_t cpu_ns) { \
    uint64_t until_ns = bench_cpu_ns() + cpu_ns, now_ns, end_ns;       \
    uint32_t i;                                                        \
                                                                       \
    while ((now_ns = bench_cpu_ns()) < until_ns) {                     \
      end_ns = bench_now_ns() + (until_ns - now_ns);                   \
      while (bench_now_ns() < end_ns)                                  \
        for (i = 0; i < ATTRIBUTION_STEP; i++)                         \
          burn_sink = i ^ (uint32_t)sizeof #name;                      \
    }                                                                  \
    __asm__ volatile("" : : "r"(#name));                               \
  }

#define ATTRIBUTION_KINDS(X) \
  X(request)                 \
  X(authenticate)            \
  X(route)                   \
  X(query)                   \
  X(decode)                  \
  X(render)                  \
  X(compress)                \
  X(cache)                   \
  X(serialize)               \
  X(audit)

ATTRIBUTION_KINDS(ATTRIBUTION_BURN)

static const struct kind {
  const char *span_name;
  const char *function;
  void (*burn)(uint64_t cpu_ns);
} kinds[] = {
#define ATTRIBUTION_KIND(name) {#name, "burn_" #name, burn_##name},
    ATTRIBUTION_KINDS(ATTRIBUTION_KIND)
#undef ATTRIBUTION_KIND
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

typedef struct worker {
  pthread_t thread;
  const spanprof_span_rules *rules;
  uint64_t random;
  uint64_t wanted_ns;
  uint64_t looked_ns; /* the thread's CPU time when it last changed spans */
  uint64_t cpu_ns[KIND_COUNT];
} worker;

static void account(worker *w, size_t kind) {
  uint64_t now_ns = bench_cpu_ns();

  w->cpu_ns[kind] += now_ns - w->looked_ns;
  w->looked_ns = now_ns;
}

/* Choose a kind of span. Kinds have different frequencies and lengths, so that
 * their shares of the CPU time differ. */
static size_t kind_choose(worker *w) {
  size_t a = bench_random(&w->random) % KIND_COUNT;
  size_t b = bench_random(&w->random) % KIND_COUNT;

  return a < b ? a : b;
}

/* Run one span, which works before, between and after its children. */
static void span_work(worker *w, size_t kind, size_t parent, int depth) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = kinds[kind].span_name,
                             .name_bytes = strlen(kinds[kind].span_name)};
  spanprof_span_token token;
  spanprof_span span;
  uint32_t children =
      depth < ATTRIBUTION_DEPTH ? bench_random(&w->random) % 3 : 0;

  if (spanprof_span_start(w->rules, &info, &span) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  account(w, parent);
  spanprof_span_enter(span, &token);
  for (;; children--) {
    kinds[kind].burn(20000 + bench_random(&w->random) % 1500000);
    if (children == 0)
      break;
    span_work(w, kind_choose(w), kind, depth + 1);
  }
  account(w, kind);
  spanprof_span_leave(token);
  spanprof_span_end(span);
}

static void *worker_run(void *data) {
  worker *w = data;
  uint64_t start_ns;

  spanprof_thread_register();
  start_ns = w->looked_ns = bench_cpu_ns();
  while (bench_cpu_ns() - start_ns < w->wanted_ns)
    span_work(w, 0, 0, 1);
  return NULL;
}

typedef struct tally {
  uint64_t cpu_ns[KIND_COUNT];
  uint64_t ticks;
  uint64_t without_span;
  uint64_t checked;
  uint64_t wrong;
} tally;

static size_t kind_of_span(const char *name) {
  size_t i;

  for (i = 0; i < KIND_COUNT; i++)
    if (strcmp(name, kinds[i].span_name) == 0)
      return i;
  bench_die("a sample has the span name '%s'", name);
}

/* Returns the kind whose function is in the stack, or KIND_COUNT if the stack
 * is between two spans. */
static size_t kind_of_stack(const sp_pprof *profile,
                            const sp_pprof_sample *sample) {
  size_t i, at;

  for (at = 0; at < sample->location_count; at++) {
    const char *name = bench_location_name(profile, sample->locations[at]);

    for (i = 0; i < KIND_COUNT; i++)
      if (strcmp(name, kinds[i].function) == 0)
        return i;
  }
  return KIND_COUNT;
}

static void sample_tally(void *data, const sp_pprof *profile,
                         const sp_pprof_sample *sample, uint64_t cpu_ns) {
  const char *name = sp_pprof_label_text(sample, "span_name");
  size_t by_stack = kind_of_stack(profile, sample), by_span;
  tally *t = data;

  if (!name) {
    t->without_span += by_stack < KIND_COUNT;
    return;
  }
  by_span = kind_of_span(name);
  t->cpu_ns[by_span] += cpu_ns;
  t->ticks += cpu_ns / (uint64_t)profile->period;
  if (by_stack == KIND_COUNT)
    return;
  t->checked++;
  if (by_stack != by_span) {
    bench_print("  a sample in %s is charged to %s", kinds[by_stack].function,
                name);
    t->wrong++;
  }
}

static double half_difference(const double *a, const double *b) {
  double sum = 0;
  size_t i;

  for (i = 0; i < KIND_COUNT; i++)
    sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
  return sum / 2;
}

/* Draws this number of random samples many times, with `shares` as their
 * probabilities. Returns the 99th percentile of the half difference between the
 * shares that were drawn and `shares`. */
static double noise(const double *shares, uint64_t samples) {
  static double trials[ATTRIBUTION_TRIALS];
  uint64_t random = 1, n;
  size_t trial, i;

  for (trial = 0; trial < ATTRIBUTION_TRIALS; trial++) {
    double drawn[KIND_COUNT] = {0};

    for (n = 0; n < samples; n++) {
      double at = bench_random(&random) / 4294967296.0;

      for (i = 0; i < KIND_COUNT - 1 && at >= shares[i]; i++)
        at -= shares[i];
      drawn[i] += 1.0 / (double)samples;
    }
    trials[trial] = half_difference(drawn, shares);
  }
  bench_sort(trials, ATTRIBUTION_TRIALS);
  return bench_quantile(trials, ATTRIBUTION_TRIALS, 0.99);
}

static void shares_tell(const worker *workers, const tally *t) {
  double truth[KIND_COUNT] = {0}, sampled[KIND_COUNT];
  spanprof_stats stats = {.struct_size = sizeof stats};
  double cpu = 0, all = 0, off, limit;
  char measured[48], bar[64], comparison[160];
  size_t i, k;

  for (k = 0; k < KIND_COUNT; k++) {
    for (i = 0; i < ATTRIBUTION_THREADS; i++)
      truth[k] += (double)workers[i].cpu_ns[k];
    cpu += truth[k];
    all += (double)t->cpu_ns[k];
  }
  spanprof_stats_get(&stats);
  bench_print("%.1f s of CPU, %llu ticks (%+.2f %%) by %llu signals, %llu "
              "dropped; self CPU by span name:",
              cpu / 1e9, (unsigned long long)t->ticks, 100 * (all / cpu - 1),
              (unsigned long long)stats.samples_taken,
              (unsigned long long)stats.ticks_dropped);
  for (k = 0; k < KIND_COUNT; k++) {
    truth[k] /= cpu;
    sampled[k] = (double)t->cpu_ns[k] / all;
    bench_print("  %-14s %6.2f %% by its clock, %6.2f %% by samples",
                kinds[k].span_name, 100 * truth[k], 100 * sampled[k]);
  }
  off = 100 * half_difference(sampled, truth);
  /* A signal that the kernel sent late stands for several ticks, but is only
   * one independent sample. */
  limit = 100 * noise(truth, stats.samples_taken);
  snprintf(measured, sizeof measured, "%.2f points", off);
  snprintf(bar, sizeof bar, "<= %.2f points", limit);
  snprintf(comparison, sizeof comparison,
           "the bar is the 99th percentile of noise of %llu samples",
           (unsigned long long)stats.samples_taken);
  bench_bar("self CPU by span, half the sum of differences", measured, bar,
            comparison, off <= limit);
  snprintf(measured, sizeof measured, "%llu",
           (unsigned long long)(t->wrong + t->without_span));
  snprintf(comparison, sizeof comparison,
           "%llu samples compared with their stack",
           (unsigned long long)t->checked);
  bench_bar("samples with a wrong span", measured, "0", comparison,
            t->wrong + t->without_span == 0 && t->checked > 0);
}

int main(void) {
  bench_profiles profiles = BENCH_PROFILES_INIT;
  spanprof_span_rules_options rules_options;
  worker workers[ATTRIBUTION_THREADS];
  spanprof_session *session;
  spanprof_options options;
  spanprof_span_rules *rules;
  tally t = {0};
  int i;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "bench-attribution";
  options.on_profile = bench_profiles_add;
  options.on_profile_data = &profiles;
  spanprof_span_rules_options_init(&rules_options, sizeof rules_options);
  rules_options.root_span_only = 0;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK ||
      spanprof_span_rules_new(&rules_options, &rules) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  for (i = 0; i < ATTRIBUTION_THREADS; i++) {
    workers[i] = (worker){.rules = rules,
                          .random = (uint64_t)i + 1,
                          .wanted_ns = (bench_quick() ? 10 : 64) *
                                       BENCH_NS_PER_S / ATTRIBUTION_THREADS};
    if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0)
      bench_die("no thread");
  }
  for (i = 0; i < ATTRIBUTION_THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  if (spanprof_session_stop(session, 5000) != SPANPROF_OK)
    bench_die("the last profile was not handed out within 5 s");
  spanprof_span_rules_free(rules);
  bench_profiles_each(&profiles, sample_tally, &t);
  if (t.ticks == 0)
    bench_die("no sample has a span");
  shares_tell(workers, &t);
  bench_profiles_dispose(&profiles);
  return 0;
}
