/* C++ exceptions are thrown through deep frames, caught, kept, and rethrown by
 * other threads, all sampled: the program uses libgcc's unwinder, and ours must
 * not interfere. */
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "stress_run.h"
}

namespace {

constexpr int kThreads = 4;

std::atomic<uint64_t> thrown, rethrown;
uint64_t work_until_ns;
std::mutex kept_lock;
std::exception_ptr kept;

struct Guard {
  explicit Guard(int &counter) : counter_(counter) {
    counter_++;
  }
  ~Guard() {
    counter_--;
  }
  int &counter_;
};

__attribute__((noinline)) int dive(int depth, int &live) {
  Guard guard(live);
  std::string text(static_cast<size_t>(depth) + 20, 'x');

  if (depth == 0)
    throw std::runtime_error(text);
  return dive(depth - 1, live) + static_cast<int>(text.size());
}

void dive_once(int depth) {
  int live = 0;

  try {
    dive(depth, live);
    STRESS_REQUIRE(false, "nothing was thrown");
  } catch (const std::runtime_error &error) {
    STRESS_REQUIRE(live == 0, "%d frames were not unwound", live);
    STRESS_REQUIRE(std::string(error.what()).size() == 20, "the wrong error");
    std::lock_guard<std::mutex> lock(kept_lock);
    kept = std::current_exception();
  }
  thrown++;
}

void rethrow_once() {
  std::exception_ptr mine;

  {
    std::lock_guard<std::mutex> lock(kept_lock);
    mine = kept;
  }
  if (!mine)
    return;
  try {
    std::rethrow_exception(mine);
  } catch (const std::exception &) {
    rethrown++;
  }
}

void worker_run(int number) {
  for (int depth = number; stress_now_ns() < work_until_ns; depth++) {
    spanprof_label_token token;

    STRESS_OK(spanprof_label_push_bytes("thrower", 7, "yes", 3, &token));
    dive_once(depth % 60);
    rethrow_once();
    spanprof_label_pop(token);
  }
}

} // namespace

int main() {
  static stress_run run;
  std::vector<std::thread> threads;

  work_until_ns = stress_begin();
  stress_wall_hz(STRESS_TSAN ? "500" : "4000");
  stress_run_init(&run, "exception_storm");
  stress_run_start(&run);
  for (int i = 0; i < kThreads; i++)
    threads.emplace_back(worker_run, i);
  for (std::thread &thread : threads)
    thread.join();
  stress_run_stop(&run, 5000);
  STRESS_REQUIRE(thrown > 0 && rethrown > 0 && run.stats.samples_exported > 0,
                 "nothing happened");
  printf("%llu exceptions, %llu thrown again elsewhere; ",
         static_cast<unsigned long long>(thrown),
         static_cast<unsigned long long>(rethrown));
  stress_run_print(&run);
  stress_run_dispose(&run);
  kept = nullptr;
  return 0;
}
