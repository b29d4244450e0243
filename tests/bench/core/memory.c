/* Measures the memory that profiling adds to a process with 1,000 threads that
 * has loaded libcurl and made one request. The library is loaded at run time,
 * so that its pages, and those of the libraries that it needs, are included. */
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <curl/curl.h>
#include <spanprof/spanprof.h>

#include "bench.h"
#include "bench_sink.h"
#include "burn.h"

#define MEMORY_THREADS   1000
#define MEMORY_LABELLED  4 /* every fourth thread uses labels and spans */
#define MEMORY_STACK     (128 * 1024)
#define MEMORY_BAR_BYTES (12u << 20)

/* The functions of the library that is loaded at run time. */
static struct {
  __typeof__(&spanprof_options_init) options_init;
  __typeof__(&spanprof_session_start) session_start;
  __typeof__(&spanprof_session_flush) session_flush;
  __typeof__(&spanprof_session_stop) session_stop;
  __typeof__(&spanprof_last_error) last_error;
  __typeof__(&spanprof_stats_get) stats_get;
  __typeof__(&spanprof_label_push_bytes) label_push_bytes;
  __typeof__(&spanprof_label_pop) label_pop;
  __typeof__(&spanprof_span_start) span_start;
  __typeof__(&spanprof_span_enter) span_enter;
  __typeof__(&spanprof_span_leave) span_leave;
  __typeof__(&spanprof_span_end) span_end;
} lib;

/* Set once by the main thread, and read by the other threads. */
static volatile bool memory_profiled, memory_stop;
static volatile uint64_t memory_wanted_ns; /* CPU time that each thread uses */
static volatile uint64_t memory_used_ns[MEMORY_THREADS];

/* Returns the exact number of resident bytes, from /proc/PID/smaps_rollup
 * (proc(5), Linux 4.14). */
static uint64_t resident_bytes(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  unsigned long long kb = 0;
  char line[256];

  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Rss: %llu kB", &kb) == 1)
      break;
  if (!file || kb == 0)
    bench_die("/proc/self/smaps_rollup cannot be read");
  fclose(file);
  return kb * 1024;
}

static size_t answer_drop(char *bytes, size_t size, size_t count, void *data) {
  (void)bytes, (void)data;
  return size * count;
}

#define SYMBOL(handle, pointer, name)              \
  do {                                             \
    *(void **)&(pointer) = dlsym(handle, name);    \
    if (!(pointer))                                \
      bench_die("%s is not in the library", name); \
  } while (0)

/* Use libcurl as a program does that sends a request. */
static void curl_use(const char *server) {
  void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  CURLcode (*global_init)(long);
  CURL *(*easy_init)(void);
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_perform)(CURL *);
  void (*easy_cleanup)(CURL *);
  CURL *easy;

  if (!handle)
    bench_die("%s", dlerror());
  SYMBOL(handle, global_init, "curl_global_init");
  SYMBOL(handle, easy_init, "curl_easy_init");
  SYMBOL(handle, easy_setopt, "curl_easy_setopt");
  SYMBOL(handle, easy_perform, "curl_easy_perform");
  SYMBOL(handle, easy_cleanup, "curl_easy_cleanup");
  global_init(CURL_GLOBAL_DEFAULT);
  easy = easy_init();
  easy_setopt(easy, CURLOPT_URL, server);
  easy_setopt(easy, CURLOPT_POSTFIELDS, "x");
  easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_drop);
  if (easy_perform(easy) != CURLE_OK)
    bench_die("the sink cannot be reached");
  easy_cleanup(easy);
}

static void library_load(void) {
  void *handle = dlopen(SPANPROF_LIBRARY, RTLD_NOW | RTLD_LOCAL);

  if (!handle)
    bench_die("%s", dlerror());
#define LOAD(name) SYMBOL(handle, lib.name, "spanprof_" #name)
  LOAD(options_init);
  LOAD(session_start);
  LOAD(session_flush);
  LOAD(session_stop);
  LOAD(last_error);
  LOAD(stats_get);
  LOAD(label_push_bytes);
  LOAD(label_pop);
  LOAD(span_start);
  LOAD(span_enter);
  LOAD(span_leave);
  LOAD(span_end);
#undef LOAD
}

static void labelled_burn(void) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /orders",
                             .name_bytes = 11};
  spanprof_label_token label;
  spanprof_span_token token;
  spanprof_span span;

  lib.label_push_bytes("controller", 10, "orders", 6, &label);
  lib.span_start(NULL, &info, &span);
  lib.span_enter(span, &token);
  burn_cpu_ms(1);
  lib.span_leave(token);
  lib.span_end(span);
  lib.label_pop(label);
}

static void *thread_run(void *data) {
  size_t number = (size_t)(uintptr_t)data;

  while (!memory_stop) {
    if (bench_cpu_ns() >= memory_wanted_ns)
      bench_sleep_ns(20 * BENCH_NS_PER_MS);
    else if (memory_profiled && number % MEMORY_LABELLED == 0)
      labelled_burn();
    else
      burn_cpu_ms(1);
    memory_used_ns[number] = bench_cpu_ns();
  }
  return NULL;
}

static void threads_start(pthread_t *threads) {
  pthread_attr_t attributes;
  size_t i;

  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, MEMORY_STACK);
  for (i = 0; i < MEMORY_THREADS; i++)
    if (pthread_create(&threads[i], &attributes, thread_run,
                       (void *)(uintptr_t)i) != 0)
      bench_die("only %zu threads could be started", i);
  pthread_attr_destroy(&attributes);
}

/* Let each thread work until it has used `cpu_ns` since its start. Returns the
 * largest memory during this work. */
static uint64_t threads_work(uint64_t cpu_ns) {
  uint64_t most = 0, now;
  size_t i = 0;

  memory_wanted_ns = cpu_ns;
  while (i < MEMORY_THREADS) {
    bench_sleep_ns(200 * BENCH_NS_PER_MS);
    now = resident_bytes();
    most = now > most ? now : most;
    while (i < MEMORY_THREADS && memory_used_ns[i] >= cpu_ns)
      i++;
  }
  return most;
}

static double mib(uint64_t bytes) {
  return (double)bytes / (1 << 20);
}

int main(void) {
  static pthread_t threads[MEMORY_THREADS];
  const char *server = bench_sink_start();
  uint64_t bare = resident_bytes(), curl, before, most, after, loaded;
  spanprof_stats stats = {.struct_size = sizeof stats};
  spanprof_session *session;
  spanprof_options options;
  char measured[64], comparison[96];
  size_t i;

  curl_use(server);
  curl = resident_bytes();
  threads_start(threads);
  threads_work(3 * BENCH_NS_PER_MS);
  before = resident_bytes();

  library_load();
  loaded = resident_bytes();
  lib.options_init(&options, sizeof options);
  options.application_name = "bench-memory";
  options.server_address = server;
  options.upload_interval_ms = 2000;
  if (lib.session_start(&options, &session) != SPANPROF_OK)
    bench_die("%s", lib.last_error());
  memory_profiled = true;
  most = threads_work((bench_quick() ? 14 : 44) * BENCH_NS_PER_MS);
  if (lib.session_flush(session, 10000) != SPANPROF_OK)
    bench_die("the last profile was not sent within 10 s");
  after = resident_bytes();
  most = after > most ? after : most;
  lib.stats_get(&stats);
  memory_stop = true;
  for (i = 0; i < MEMORY_THREADS; i++)
    pthread_join(threads[i], NULL);
  lib.session_stop(session, 2000);
  if (stats.profiles_sent == 0)
    bench_die("nothing was sent");

  bench_print(
      "resident: %.1f MiB bare, %.1f with libcurl after a request, %.1f "
      "with %d threads, %.1f with the library loaded, %.1f at most while "
      "profiling, %.1f at the end; %llu threads profiled, %llu samples, "
      "%llu dropped because the ring was full, %llu profiles sent",
      mib(bare), mib(curl), mib(before), MEMORY_THREADS, mib(loaded), mib(most),
      mib(after), (unsigned long long)stats.threads_profiled,
      (unsigned long long)stats.samples_taken,
      (unsigned long long)stats.samples_dropped_full,
      (unsigned long long)stats.profiles_sent);
  snprintf(measured, sizeof measured, "%.1f MiB (at the end %.1f)",
           mib(most - before), mib(after - before));
  snprintf(comparison, sizeof comparison, "libcurl itself: %.1f MiB",
           mib(curl - bare));
  bench_bar("resident memory added, 1,000 threads", measured, "<= 12 MiB",
            comparison, most - before <= MEMORY_BAR_BYTES);
  return 0;
}
