// C++ exceptions thrown and caught on every thread while it is sampled at the
// highest rate, and the unwinder that serves them stays libgcc's:
// exceptions OUTPUT_DIRECTORY.
#include <spanprof/spanprof.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

static const double exceptions_cpu_s = 0.5;

struct exceptions_guard {
  explicit exceptions_guard(long *live_) : live(live_) {
    ++*live;
  }
  ~exceptions_guard() {
    --*live;
  }
  long *live;
};

__attribute__((noinline)) static int exceptions_dive(int depth, long *live) {
  exceptions_guard guard(live);

  if (depth == 0)
    throw std::runtime_error("bottom");
  return exceptions_dive(depth - 1, live) + 1;
}

static double exceptions_now_s() {
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / 1e9;
}

static void exceptions_run(std::atomic<long> *caught,
                           std::atomic<long> *wrong) {
  double end = exceptions_now_s() + exceptions_cpu_s;

  while (exceptions_now_s() < end) {
    long live = 0;

    try {
      exceptions_dive(20, &live);
      ++*wrong;
    } catch (const std::runtime_error &) {
      ++*caught;
    }
    if (live != 0)
      ++*wrong;
  }
}

static bool exceptions_from_libgcc(const char *symbol) {
  Dl_info info;
  void *address = dlsym(RTLD_DEFAULT, symbol);

  if (!address || !dladdr(address, &info))
    return false;
  printf("%s: %s\n", symbol, info.dli_fname);
  return strstr(info.dli_fname, "libgcc_s") != nullptr;
}

int main(int argc, char **argv) {
  spanprof_options options;
  spanprof_session *session;
  spanprof_stats stats;
  std::vector<std::thread> threads;
  std::atomic<long> caught(0), wrong(0);

  if (argc != 2)
    return 2;
  spanprof_options_init(&options, sizeof options);
  options.application_name = "exceptions";
  options.output_directory = argv[1];
  options.sample_rate_hz = 1000;
  if (spanprof_session_start(&options, &session) != SPANPROF_OK) {
    fprintf(stderr, "start: %s\n", spanprof_last_error());
    return 1;
  }
  for (int i = 0; i < 4; i++)
    threads.emplace_back(exceptions_run, &caught, &wrong);
  for (std::thread &thread : threads)
    thread.join();
  if (spanprof_session_flush(session, 5000) != SPANPROF_OK ||
      !exceptions_from_libgcc("_Unwind_RaiseException") ||
      !exceptions_from_libgcc("_Unwind_Backtrace"))
    return 1;
  if (spanprof_session_stop(session, 5000) != SPANPROF_OK)
    return 1;
  stats.struct_size = sizeof stats;
  spanprof_stats_get(&stats);
  printf("%ld exceptions caught, %ld wrong, %llu samples\n", caught.load(),
         wrong.load(), static_cast<unsigned long long>(stats.samples_taken));
  return caught > 0 && wrong == 0 && stats.samples_taken > 0 ? 0 : 1;
}
