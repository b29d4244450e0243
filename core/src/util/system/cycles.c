#include "cycles.h"

#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Nanoseconds per cycle, times 2^32; 0: CLOCK_MONOTONIC is used instead.
 * Process-wide, because all processors count at the same rate. */
SP_HANDLER_DATA static _Atomic uint64_t cycles_rate;

#if defined(__x86_64__)
SP_SIGNAL_SAFE static uint64_t counter_read(void) {
  return __builtin_ia32_rdtsc();
}

/* Is the counter's rate constant at every frequency of the processor? AMD64
 * Architecture Programmer's Manual 3 (rev. 3.36),
 * Fn8000_0007_EDX[TscInvariant]; Intel SDM 3B, 18.17.1. */
static bool counter_steady(void) {
  unsigned a, b, c, d;

  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
#else
SP_SIGNAL_SAFE static uint64_t counter_read(void) {
  return 0;
}

static bool counter_steady(void) {
  return false;
}
#endif

sp_cycles_mark sp_cycles_mark_now(void) {
  return (sp_cycles_mark){.cycles = counter_read(),
                          .monotonic_ns = sp_monotonic_ns()};
}

void sp_cycles_calibrate(const sp_cycles_mark *mark) {
  sp_cycles_mark now = sp_cycles_mark_now();
  uint64_t cycles = now.cycles - mark->cycles;
  uint64_t ns = now.monotonic_ns - mark->monotonic_ns;

  if (cycles == 0 || ns < SP_NS_PER_MS || !counter_steady())
    return;
  atomic_store_explicit(&cycles_rate,
                        (uint64_t)(((unsigned __int128)ns << 32) / cycles),
                        memory_order_relaxed);
}

uint64_t sp_cycles_now(void) {
  if (SP_LIKELY(atomic_load_explicit(&cycles_rate, memory_order_relaxed) != 0))
    return counter_read();
  return sp_monotonic_ns();
}

uint64_t sp_cycles_ns(uint64_t cycles) {
  uint64_t rate = atomic_load_explicit(&cycles_rate, memory_order_relaxed);

  if (rate == 0)
    return cycles;
  return (uint64_t)((unsigned __int128)cycles * rate >> 32);
}
