/* Tests of ticks without a stack: before a thread has a timer, at its end, at
 * the end of sampling, and while it blocks the signal or cannot get a timer. */
#include "sampler/thread_arming.h"

#include <pthread.h>
#include <signal.h>

#include "burn.h"
#include "sampler/capture.h"
#include "sampler/handler/signal.h"
#include "sampler/thread_record.h"
#include "util/system/counters.h"

static const sp_timer_base base = {.interval_ns = SP_NS_PER_MS};
static sp_capture *capture;

static void sampling_start(uint32_t timers_max) {
  const sp_capture_config config = {.interval_ns = base.interval_ns};

  sp_counters_reset();
  CHECK(!sp_capture_acquire(&capture));
  sp_capture_begin(capture, &config);
  CHECK(!sp_threads_start(&base, SIGUSR1, true));
  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.timers_max = timers_max;
  pthread_mutex_unlock(&sp_threads.lock);
}

/* Stop sampling, and return the number of ticks that were recorded at the end
 * of threads. */
static uint64_t sampling_stop(void) {
  sp_threads_stop();
  sp_capture_end();
  sp_capture_release(capture);
  return sp_counted(&sp_counts.ticks_booked_at_thread_end);
}

static void thread_run(void *(*run)(void *)) {
  pthread_t thread;

  CHECK_EQUAL(pthread_create(&thread, NULL, run, NULL), 0);
  pthread_join(thread, NULL);
}

/* Use CPU time while the signal is blocked, so that every tick is recorded at
 * the thread's end. */
static void blocked_burn(uint64_t ms) {
  sigset_t ours, mask;

  CHECK(!spanprof_thread_register());
  sigemptyset(&ours);
  sigaddset(&ours, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &ours, &mask);
  burn_cpu_ms(ms);
}

static void *blocked_run(void *nothing) {
  blocked_burn(20);
  return nothing;
}

static void *excluded_run(void *nothing) {
  CHECK(!spanprof_thread_register());
  spanprof_thread_exclude(1);
  burn_cpu_ms(20);
  return nothing;
}

static void *registered_run(void *nothing) {
  spanprof_status st = spanprof_thread_register();

  CHECK(!st || st == SPANPROF_ERR_LIMIT);
  burn_cpu_ms(20);
  return nothing;
}

/* A thread that excludes itself before it has a timer. */
static void *excluded_first_run(void *nothing) {
  spanprof_thread_exclude(1);
  burn_cpu_ms(20);
  return nothing;
}

static void ticks_after_the_last_signal_are_recorded(void) {
  uint64_t booked;

  sampling_start(8);
  thread_run(blocked_run);
  booked = sampling_stop();
  CHECK(booked >= 20 && booked < 1000);
}

/* Only the CPU time before a thread excludes itself is recorded. */
static void an_excluded_thread_records_nothing(void) {
  sampling_start(8);
  thread_run(excluded_run);
  thread_run(excluded_first_run);
  CHECK(sampling_stop() < 20);
}

static void cpu_time_without_an_available_timer_is_recorded(void) {
  uint64_t booked;

  sampling_start(8);
  thread_run(excluded_run);
  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.timers_max = 0;
  pthread_mutex_unlock(&sp_threads.lock);
  thread_run(registered_run);
  thread_run(registered_run);
  booked = sampling_stop();
  CHECK(booked >= 40 && booked < 1000);
}

/* The record belonged to an earlier thread with the same id, which had used
 * more CPU time. */
static void *reused_run(void *nothing) {
  sp_thread *thread;

  CHECK(!spanprof_thread_register());
  thread = sp_self_current()->thread;
  thread->armed_cpu_ns += SP_NS_PER_S;
  return nothing;
}

static void another_threads_clock_records_nothing(void) {
  sampling_start(8);
  thread_run(reused_run);
  CHECK_EQUAL(sampling_stop(), 0);
}

/* Returns the ticks of the next sample in the ring, or 0 if there is none. *why
 * is the reason why the sample has no stack. */
static uint64_t ring_next(uint32_t *why, spanprof_span *span) {
  sp_ring *ring = sp_capture_ring(capture);
  const sp_sample *sample;
  unsigned shard = 0;
  uint64_t ticks = 0;
  size_t bytes;

  sample = sp_ring_next(ring, &shard, &bytes);
  if (!sample)
    return 0;
  *why = sample->flags;
  *span = sample->span;
  ticks = sample->ticks;
  sp_ring_release(ring, shard);
  return ticks;
}

static uint64_t ring_ticks(uint32_t reasons) {
  uint64_t sum = 0, ticks;
  spanprof_span span;
  uint32_t why;

  while ((ticks = ring_next(&why, &span)) > 0)
    sum += why & reasons ? ticks : 0;
  return sum;
}

static void *late_run(void *nothing) {
  burn_cpu_ms(40);
  CHECK(!spanprof_thread_register());
  return nothing;
}

static void registered_only(bool only) {
  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.registered_only = only;
  pthread_mutex_unlock(&sp_threads.lock);
}

/* The timer is set late, as it is for a thread that a scan finds. */
static void cpu_time_before_the_timer_is_recorded(void) {
  uint64_t ticks;

  sampling_start(8);
  registered_only(false);
  thread_run(late_run);
  ticks = ring_ticks(SP_SAMPLE_THREAD_START);
  CHECK(ticks >= 39 && ticks < 1000);
  registered_only(true);
  thread_run(late_run);
  CHECK_EQUAL(ring_ticks(SP_SAMPLE_THREAD_START), 0);
  sampling_stop();
}

static _Atomic bool there, sampled;

static void *older_run(void *nothing) {
  burn_cpu_ms(40);
  atomic_store(&there, true);
  while (!atomic_load(&sampled))
    usleep(1000);
  CHECK(!spanprof_thread_register());
  return nothing;
}

static void cpu_time_before_the_session_is_not_recorded(void) {
  pthread_t thread;

  CHECK_EQUAL(pthread_create(&thread, NULL, older_run, NULL), 0);
  while (!atomic_load(&there))
    usleep(1000);
  sampling_start(8);
  registered_only(false);
  atomic_store(&sampled, true);
  pthread_join(thread, NULL);
  CHECK_EQUAL(ring_ticks(SP_SAMPLE_THREAD_START), 0);
  sampling_stop();
}

static void cpu_time_of_a_thread_without_a_timer_is_recorded(void) {
  sp_thread *thread;
  uint64_t ticks;

  sampling_start(0);
  CHECK_EQUAL(sp_thread_enrol(gettid(), sp_self_attach()), SPANPROF_ERR_LIMIT);
  ring_ticks(0);
  burn_cpu_ms(40);
  CHECK_EQUAL(sp_thread_enrol(gettid(), sp_self_current()), SPANPROF_ERR_LIMIT);
  ticks = ring_ticks(SP_SAMPLE_NO_TIMER);
  CHECK(ticks >= 39 && ticks < 1000);
  thread = sp_self_current()->thread;
  CHECK(thread->timer == SP_TIMER_NONE);
  sampling_stop();
  spanprof_thread_unregister();
}

static spanprof_span span_of_the_thread;

static void *span_run(void *nothing) {
  spanprof_span_token token;

  CHECK(!spanprof_span_enter(span_of_the_thread, &token));
  blocked_burn(20);
  spanprof_span_leave(token);
  return nothing;
}

/* The thread leaves the span before it ends, so no span is active at its
 * end. */
static void the_last_ticks_belong_to_the_last_span(void) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "request",
                             .name_bytes = 7};
  uint64_t ticks, ended = 0;
  spanprof_span span;
  uint32_t why;

  CHECK(!spanprof_span_start(NULL, &info, &span_of_the_thread));
  sampling_start(8);
  thread_run(span_run);
  while ((ticks = ring_next(&why, &span)) > 0) {
    CHECK_EQUAL(span, span_of_the_thread);
    ended += why & SP_SAMPLE_THREAD_END ? ticks : 0;
  }
  CHECK(ended >= 19);
  sampling_stop();
  spanprof_span_end(span_of_the_thread);
}

/* The late ticks are those of the thread that stops sampling. */
static void late_ticks_at_a_stop_are_recorded(void) {
  uint64_t booked;

  sampling_start(8);
  blocked_burn(40);
  booked = sampling_stop();
  CHECK(booked >= 40 && booked < 1000);
  spanprof_thread_unregister();
  CHECK_EQUAL(sp_counted(&sp_counts.ticks_booked_at_thread_end), booked);
}

static void recent_ticks_at_a_stop_are_not_late(void) {
  sampling_start(8);
  blocked_burn(5);
  CHECK_EQUAL(sampling_stop(), 0);
  spanprof_thread_unregister();
}

static void late_ticks_at_a_pause_are_recorded_once(void) {
  uint64_t booked;

  sampling_start(8);
  blocked_burn(40);
  sp_threads_pause();
  booked = sp_counted(&sp_counts.ticks_booked_at_thread_end);
  CHECK(booked >= 40 && booked < 1000);
  sp_threads_pause();
  CHECK_EQUAL(sampling_stop(), booked);
  spanprof_thread_unregister();
}

static const check_test tests[] = {
    {"ticks_after_the_last_signal_are_recorded",
     ticks_after_the_last_signal_are_recorded},
    {"an_excluded_thread_records_nothing", an_excluded_thread_records_nothing},
    {"cpu_time_without_an_available_timer_is_recorded",
     cpu_time_without_an_available_timer_is_recorded},
    {"cpu_time_before_the_timer_is_recorded",
     cpu_time_before_the_timer_is_recorded},
    {"cpu_time_before_the_session_is_not_recorded",
     cpu_time_before_the_session_is_not_recorded},
    {"cpu_time_of_a_thread_without_a_timer_is_recorded",
     cpu_time_of_a_thread_without_a_timer_is_recorded},
    {"the_last_ticks_belong_to_the_last_span",
     the_last_ticks_belong_to_the_last_span},
    {"late_ticks_at_a_stop_are_recorded", late_ticks_at_a_stop_are_recorded},
    {"recent_ticks_at_a_stop_are_not_late",
     recent_ticks_at_a_stop_are_not_late},
    {"late_ticks_at_a_pause_are_recorded_once",
     late_ticks_at_a_pause_are_recorded_once},
    {"another_threads_clock_records_nothing",
     another_threads_clock_records_nothing},
};

int main(int argc, char **argv) {
  CHECK(!sp_signal_install(SIGUSR1, sp_capture_signal));
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
