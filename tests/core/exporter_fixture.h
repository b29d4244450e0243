/* An exporter for tests, with its server, its clock, and its counters. */
#ifndef EXPORTER_FIXTURE_H
#define EXPORTER_FIXTURE_H

#include "export/exporter.h"

#include "export_fixture.h"
#include "sample_pprof.h"
#include "sink_process.h"
#include "util/system/counters.h"

static test_clock test_time;
static sp_log test_log;
static sp_settings test_settings;
static sink_process sink;
static uint64_t pushed_samples, pushed_ticks, pushed_cpu_ns, last_time_ns;

static inline void sink_clock_set(void) {
  sink_control(&sink, "{\"clock_rate\": %llu, \"clock_origin\": %f}",
               (unsigned long long)test_time.rate,
               (double)sp_clock_unix_ns(&test_time.clock) / 1e9);
}

/* Begin a test: reset settings, counters, log, clock and server. */
static inline void begin(uint64_t clock_rate) {
  test_clock_init(&test_time, clock_rate);
  sink_control(&sink, "{\"reset\": true}");
  sink_clock_set();
  test_settings = usual_settings();
  test_settings.server_address = sink.address;
  logged[0] = '\0';
  sp_log_init(&test_log, logged_write, NULL, SPANPROF_LOG_INFO,
              &test_time.clock);
  sp_counters_reset();
  pushed_samples = pushed_ticks = pushed_cpu_ns = last_time_ns = 0;
}

static inline sp_exporter *exporter_of(const sp_mem *mem) {
  sp_exporter *exporter;

  CHECK(!sp_exporter_new(&exporter, mem, &test_settings, &test_time.clock,
                         &test_log));
  return exporter;
}

static inline uint64_t now_ns(void) {
  return sp_clock_monotonic_ns(&test_time.clock);
}

static inline uint64_t in_s(uint64_t seconds) {
  return now_ns() + seconds * SP_NS_PER_S;
}

/* Advance the clocks of the exporter and of the server by `seconds`. */
static inline void pass_s(uint64_t seconds) {
  test_clock_pass(&test_time, seconds * SP_NS_PER_S);
  sink_clock_set();
}

static inline void push_sized(sp_exporter *exporter, size_t filler) {
  uint64_t time_ns =
      sp_max_u64(last_time_ns + 1, sp_clock_unix_ns(&test_time.clock));
  uint64_t samples = 1 + time_ns % 7;
  sp_encoded part = sample_pprof(&sp_mem_default, time_ns, samples,
                                 samples * 10000000, filler);

  last_time_ns = time_ns;
  sp_count(&sp_counts.samples_taken, samples);
  sp_count(&sp_counts.ticks_taken, part.ticks);
  pushed_samples += samples;
  pushed_ticks += part.ticks;
  pushed_cpu_ns += part.cpu_ns;
  sp_exporter_push(exporter, &part);
}

static inline void push(sp_exporter *exporter) {
  push_sized(exporter, 100);
}

static inline spanprof_stats stats(void) {
  spanprof_stats out = {.struct_size = sizeof out};

  sp_counters_read(&out);
  return out;
}

/* Check that every pushed sample is counted once. */
static inline void each_sample_is_counted_once(void) {
  spanprof_stats out = stats();

  CHECK_EQUAL(out.samples_pending, 0);
  CHECK_EQUAL(out.samples_exported + out.samples_dropped_export +
                  out.samples_dropped_stop,
              pushed_samples);
  CHECK_EQUAL(out.ticks_exported + out.ticks_dropped, pushed_ticks);
}

static inline void stop(sp_exporter *exporter, spanprof_status expected) {
  CHECK_EQUAL(sp_exporter_stop(exporter, in_s(20)), expected);
  each_sample_is_counted_once();
}

/* Guards failing_mem, which supports only one thread; the exporter has two. */
static pthread_mutex_t sweep_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void *locked_resize(void *data, void *old, size_t size) {
  const sp_mem *mem = data;
  void *p;

  pthread_mutex_lock(&sweep_lock);
  p = mem->resize(mem->data, old, size);
  pthread_mutex_unlock(&sweep_lock);
  return p;
}

static inline sp_mem locked_mem(const sp_mem *mem) {
  return (sp_mem){.resize = locked_resize, .data = (void *)(size_t)mem};
}

#endif
