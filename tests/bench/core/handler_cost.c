/* Measures the cost of a sample for the sampled thread (ambush.h). Signals of
 * spanprof alternate with those of other profilers. Two handlers that only
 * count are the control: the difference between them is the resolution of this
 * measurement. */
#include <dlfcn.h>

#include <spanprof/spanprof.h>

#include "../ambush.h"
#include "bench.h"

#define HANDLER_WARM_UP    20
#define HANDLER_UNWIND_MAX 128

typedef struct variant {
  const char *what;
  int signal_number;
  int code; /* si_code */
  void *value;
  size_t turns; /* number of signals to measure; 0: the profiler is not
                 * available */
  double *ns;
} variant;

enum { OURS, COUNTING, CONTROL, GPERFTOOLS, LIBUNWIND, VARIANT_COUNT };

static variant variants[VARIANT_COUNT] = {
    [OURS] = {.what = "ours", .code = SI_TIMER},
    [COUNTING] = {.what = "a handler that counts", .code = SI_QUEUE},
    [CONTROL] = {.what = "another that counts", .code = SI_QUEUE},
    [GPERFTOOLS] = {.what = "gperftools", .code = SI_QUEUE},
    [LIBUNWIND] = {.what = "unw_backtrace", .code = SI_QUEUE},
};

/* Written by the handlers. */
static volatile uint64_t handler_count;
static volatile int handler_depth;
static int (*handler_backtrace)(void **frames, int max);

static void counting_handler(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info, (void)ucontext;
  handler_count++;
}

static void backtrace_handler(int number, siginfo_t *info, void *ucontext) {
  void *frames[HANDLER_UNWIND_MAX];

  (void)number, (void)info, (void)ucontext;
  handler_depth = handler_backtrace(frames, HANDLER_UNWIND_MAX);
}

static void handler_install(variant *v, int number,
                            void (*handle)(int, siginfo_t *, void *)) {
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (sigaction(number, &action, NULL) != 0)
    bench_die("signal %d cannot be used", number);
  v->signal_number = number;
}

static uint64_t signal_send(const variant *v) {
  return ambush_send(v->signal_number, v->code, v->value, NULL);
}

static void turns_take(void) {
  bool left = true;
  size_t i, turn;

  for (i = 0; i < VARIANT_COUNT; i++)
    for (turn = 0; turn < HANDLER_WARM_UP && variants[i].turns; turn++)
      signal_send(&variants[i]);
  for (turn = 0; left; turn++) {
    left = false;
    for (i = 0; i < VARIANT_COUNT; i++) {
      if (turn >= variants[i].turns)
        continue;
      ambush_work();
      variants[i].ns[turn] = (double)signal_send(&variants[i]);
      left = true;
    }
  }
}

/* A stack of 28 functions, with frames of usual size. */
#define HANDLER_FRAME(name, next)                            \
  static __attribute__((noinline)) void frame_##name(void) { \
    volatile char frame[96];                                 \
                                                             \
    frame[0] = 1;                                            \
    next();                                                  \
    frame[1] = frame[0];                                     \
  }
#define HANDLER_FRAMES(n, next)     \
  HANDLER_FRAME(n##1, next)         \
  HANDLER_FRAME(n##2, frame_##n##1) \
  HANDLER_FRAME(n##3, frame_##n##2) \
  HANDLER_FRAME(n##4, frame_##n##3) \
  HANDLER_FRAME(n##5, frame_##n##4) \
  HANDLER_FRAME(n##6, frame_##n##5) \
  HANDLER_FRAME(n##7, frame_##n##6)

HANDLER_FRAMES(a, turns_take)
HANDLER_FRAMES(b, frame_a7)
HANDLER_FRAMES(c, frame_b7)
HANDLER_FRAMES(d, frame_c7)

static void *thread_run(void *data) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /orders",
                             .name_bytes = 11};
  spanprof_label_token label;
  spanprof_span_token token;
  spanprof_span span;

  (void)data;
  if (spanprof_thread_register() != SPANPROF_OK ||
      spanprof_label_push_bytes("controller", 10, "orders", 6, &label) !=
          SPANPROF_OK ||
      spanprof_span_start(NULL, &info, &span) != SPANPROF_OK ||
      spanprof_span_enter(span, &token) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  variants[OURS].value = ambush_value(variants[OURS].signal_number);
  frame_d7();
  spanprof_span_leave(token);
  spanprof_span_end(span);
  spanprof_label_pop(label);
  return NULL;
}

/* Load the other profilers. They are loaded with RTLD_LOCAL, because
 * libunwind's _Unwind_* functions must not replace those of libgcc. */
static void others_load(void) {
  void *profiler = dlopen("libprofiler.so.0", RTLD_NOW | RTLD_LOCAL);
  void *unwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  int (*start)(const char *path) = NULL;

  if (profiler)
    *(void **)&start = dlsym(profiler, "ProfilerStart");
  if (start && start("/dev/null"))
    variants[GPERFTOOLS].signal_number = SIGPROF;
  if (unwind)
    *(void **)&handler_backtrace = dlsym(unwind, "unw_backtrace");
  if (handler_backtrace)
    handler_install(&variants[LIBUNWIND], SIGRTMIN + 3, backtrace_handler);
}

static void turns_set(void) {
  bool quick = bench_quick();
  size_t i;

  for (i = 0; i < VARIANT_COUNT; i++) {
    variant *v = &variants[i];

    if (v->signal_number == 0)
      continue;
    v->turns = i <= CONTROL ? (quick ? 100 : 3000) : (quick ? 50 : 1000);
    v->ns = calloc(v->turns, sizeof *v->ns);
    if (!v->ns)
      bench_die("no memory");
  }
}

static double variant_quantile(size_t i, double share) {
  return bench_quantile(variants[i].ns, variants[i].turns, share) / 1000;
}

/* Returns a quantile of the times of both counting handlers. The kernel's tick
 * interrupts one signal in a hundred, so the 99th percentile is exact only with
 * many signals. */
static double counting_quantile(double share) {
  static double *both;
  size_t a = variants[COUNTING].turns, b = variants[CONTROL].turns;

  if (!both) {
    both = calloc(a + b, sizeof *both);
    if (!both)
      bench_die("no memory");
    memcpy(both, variants[COUNTING].ns, a * sizeof *both);
    memcpy(both + a, variants[CONTROL].ns, b * sizeof *both);
    bench_sort(both, a + b);
  }
  return bench_quantile(both, a + b, share) / 1000;
}

static void others_print(char *out, size_t size, double share) {
  char *end = out + size;
  size_t i;

  out += snprintf(out, size, "control %+.2f us",
                  variant_quantile(CONTROL, share) -
                      variant_quantile(COUNTING, share));
  for (i = GPERFTOOLS; i < VARIANT_COUNT; i++)
    if (variants[i].turns)
      out +=
          snprintf(out, (size_t)(end - out), ", %s %.1f us", variants[i].what,
                   variant_quantile(i, share) - counting_quantile(share));
    else
      out += snprintf(out, (size_t)(end - out), ", %s not installed",
                      variants[i].what);
}

static void bar_tell(const char *what, double share, double bar_us) {
  double us = variant_quantile(OURS, share) - counting_quantile(share);
  char measured[48], bar[32], comparison[160];

  others_print(comparison, sizeof comparison, share);
  snprintf(measured, sizeof measured, "%.2f us", us);
  snprintf(bar, sizeof bar, "<= %.0f us", bar_us);
  bench_bar(what, measured, bar, comparison, us <= bar_us);
}

int main(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};
  spanprof_session *session;
  spanprof_options options;
  pthread_t thread;
  size_t i;

  /* gperftools runs at its lowest rate, so that only the signals that this
   * program sends are measured. */
  setenv("CPUPROFILE_FREQUENCY", "1", 1);
  if (ambush_prepare())
    bench_die("no memory");
  handler_install(&variants[COUNTING], SIGRTMIN + 1, counting_handler);
  handler_install(&variants[CONTROL], SIGRTMIN + 2, counting_handler);
  others_load();
  spanprof_options_init(&options, sizeof options);
  options.application_name = "bench-handler-cost";
  options.sample_rate_hz = 1;
  options.signal_number = variants[OURS].signal_number = SIGRTMIN + 4;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  turns_set();
  if (pthread_create(&thread, NULL, thread_run, NULL) != 0)
    bench_die("no thread");
  pthread_join(thread, NULL);
  spanprof_session_stop(session, 2000);

  spanprof_stats_get(&stats);
  if (stats.samples_taken < variants[OURS].turns ||
      stats.samples_dropped_full + stats.samples_dropped_memory > 0)
    bench_die("not every signal was a sample: %llu taken",
              (unsigned long long)stats.samples_taken);
  bench_print("us from sending to return, caches cold:");
  for (i = 0; i < VARIANT_COUNT; i++) {
    if (!variants[i].turns)
      continue;
    bench_sort(variants[i].ns, variants[i].turns);
    bench_print("  %-22s %5zu signals: median %6.2f, p95 %6.2f, p98 %6.2f, p99 "
                "%7.2f, least %6.2f",
                variants[i].what, variants[i].turns, variant_quantile(i, 0.5),
                variant_quantile(i, 0.95), variant_quantile(i, 0.98),
                variant_quantile(i, 0.99), variants[i].ns[0] / 1000);
  }
  bar_tell("time per sample, median", 0.5, 3);
  bar_tell("time per sample, p99", 0.99, 30);
  return 0;
}
