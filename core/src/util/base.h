/* Macros that every file may use. */
#ifndef SP_BASE_H
#define SP_BASE_H

#include <spanprof/spanprof.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a cache line in bytes, on both supported architectures. */
#define SP_CACHE_LINE 64

/* A function that a signal handler may call at any instant, on any thread. It
 * calls only functions with this mark. It does not allocate, lock, wait or
 * change errno. tests/rules/signal_safety.py checks the calls; it finds the
 * marked functions by their section in the object file. */
#ifdef SPANPROF_SHOW_MARKS
#define SP_SIGNAL_SAFE __attribute__((section("sp_signal_safe")))
#else
#define SP_SIGNAL_SAFE
#endif

/* Marks a function that is SP_SIGNAL_SAFE and that every sample runs. The
 * linker places these functions next to each other (section sp_handler_code),
 * and the handler prefetches the whole section when it starts (signal.c). Two
 * samples of a thread are 10 ms apart, so this code is in no cache when the
 * next sample is taken. Fetching one line after the other would cost more than
 * the work itself. A cold sample of 25 frames of CPython 3.11 took 6.4 us;
 * without the prefetch 7.1 us, and without the sections 7.8 us
 * (tests/bench/python/handler_cost.py of three builds, an EPYC of 2026). */
#define SP_HANDLER_CODE __attribute__((hot, section("sp_handler_code")))

/* A function of the handler that few samples run. It is not prefetched. */
#define SP_HANDLER_RARE SP_SIGNAL_SAFE __attribute__((cold, noinline))

/* A variable that the handler uses. These variables are in a separate section,
 * which is prefetched with the code. Each page of this section that is in no
 * cache costs a sample 0.25 us. */
#define SP_HANDLER_DATA __attribute__((section("sp_handler_data")))

#define SP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define SP_COUNT_OF(array)     (sizeof(array) / sizeof((array)[0]))
#define SP_LIKELY(x)           __builtin_expect(!!(x), 1)
#define SP_UNLIKELY(x)         __builtin_expect(!!(x), 0)

#define SP_NS_PER_S  UINT64_C(1000000000)
#define SP_NS_PER_MS UINT64_C(1000000)

/* For functions that read raw stacks, or memory that other threads write at the
 * same time. */
#define SP_NO_SANITIZE                                          \
  __attribute__((no_sanitize("address"), no_sanitize("thread"), \
                 no_sanitize("undefined")))

/* A counter to which signal handlers and any thread may add. */
typedef _Atomic uint64_t sp_counter;

SP_SIGNAL_SAFE static inline void sp_count(sp_counter *counter, uint64_t n) {
  atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

SP_SIGNAL_SAFE static inline void sp_count_down(sp_counter *counter) {
  atomic_fetch_sub_explicit(counter, 1, memory_order_relaxed);
}

SP_SIGNAL_SAFE static inline uint64_t sp_counted(const sp_counter *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

SP_SIGNAL_SAFE static inline uint64_t sp_min_u64(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

SP_SIGNAL_SAFE static inline uint64_t sp_max_u64(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

#endif
