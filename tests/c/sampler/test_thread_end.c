/* What the end of a thread books, or of sampling where the thread ends that:
 * what expired of its timer, and nothing where it had none. */
#include "sampler/thread_arming.h"

#include <pthread.h>
#include <signal.h>

#include "burn.h"
#include "sampler/capture.h"
#include "sampler/signal.h"
#include "sampler/thread_record.h"
#include "util/counters.h"

static const sp_timer_base base = {.interval_ns = SP_NS_PER_MS};
static sp_capture *capture;

static void sampling_start(uint32_t timers_max) {
  const sp_capture_config config = {.interval_ns = base.interval_ns};

  sp_counters_reset();
  CHECK(!sp_capture_hold(&capture));
  sp_capture_begin(capture, &config);
  CHECK(!sp_threads_start(&base, SIGUSR1, true));
  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.timers_max = timers_max;
  pthread_mutex_unlock(&sp_threads.lock);
}

/* How many ticks the ends of threads have booked. */
static uint64_t sampling_stop(void) {
  sp_threads_stop();
  sp_capture_end();
  sp_capture_leave(capture);
  return sp_counted(&sp_counts.ticks_booked_at_thread_end);
}

static void thread_run(void *(*run)(void *)) {
  pthread_t thread;

  CHECK_EQUAL(pthread_create(&thread, NULL, run, NULL), 0);
  pthread_join(thread, NULL);
}

/* Every tick is left to the end. */
static void held_burn(uint64_t ms) {
  sigset_t ours, mask;

  CHECK(!spanprof_thread_register());
  sigemptyset(&ours);
  sigaddset(&ours, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &ours, &mask);
  burn_cpu_ms(ms);
}

static void *held_run(void *nothing) {
  held_burn(20);
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

/* Excluded while there was no record that a timer had been set for. */
static void *excluded_first_run(void *nothing) {
  spanprof_thread_exclude(1);
  burn_cpu_ms(20);
  return nothing;
}

static void what_a_timer_left_is_booked(void) {
  uint64_t booked;

  sampling_start(8);
  thread_run(held_run);
  booked = sampling_stop();
  CHECK(booked >= 20 && booked < 1000);
}

static void an_excluded_thread_books_nothing(void) {
  sampling_start(8);
  thread_run(excluded_run);
  thread_run(excluded_first_run);
  CHECK_EQUAL(sampling_stop(), 0);
}

/* Also where the record was that of a thread with one. */
static void a_thread_that_got_no_timer_books_nothing(void) {
  sampling_start(8);
  thread_run(excluded_run);
  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.timers_max = 0;
  pthread_mutex_unlock(&sp_threads.lock);
  thread_run(registered_run);
  thread_run(registered_run);
  CHECK_EQUAL(sampling_stop(), 0);
}

/* A timer of one that had the number before, and used more. */
static void *reused_run(void *nothing) {
  sp_thread *thread;

  CHECK(!spanprof_thread_register());
  thread = sp_self_current()->thread;
  thread->armed_cpu_ns += SP_NS_PER_S;
  return nothing;
}

static void a_clock_of_another_books_nothing(void) {
  sampling_start(8);
  thread_run(reused_run);
  CHECK_EQUAL(sampling_stop(), 0);
}

/* Of the thread that stops. */
static void what_is_late_at_a_stop_is_booked(void) {
  uint64_t booked;

  sampling_start(8);
  held_burn(40);
  booked = sampling_stop();
  CHECK(booked >= 40 && booked < 1000);
  spanprof_thread_unregister();
  CHECK_EQUAL(sp_counted(&sp_counts.ticks_booked_at_thread_end), booked);
}

static void what_came_just_before_a_stop_is_not_late(void) {
  sampling_start(8);
  held_burn(5);
  CHECK_EQUAL(sampling_stop(), 0);
  spanprof_thread_unregister();
}

static void what_is_late_at_a_pause_is_booked_once(void) {
  uint64_t booked;

  sampling_start(8);
  held_burn(40);
  sp_threads_pause();
  booked = sp_counted(&sp_counts.ticks_booked_at_thread_end);
  CHECK(booked >= 40 && booked < 1000);
  sp_threads_pause();
  CHECK_EQUAL(sampling_stop(), booked);
  spanprof_thread_unregister();
}

static const check_test tests[] = {
    {"what_a_timer_left_is_booked", what_a_timer_left_is_booked},
    {"an_excluded_thread_books_nothing", an_excluded_thread_books_nothing},
    {"a_thread_that_got_no_timer_books_nothing",
     a_thread_that_got_no_timer_books_nothing},
    {"what_is_late_at_a_stop_is_booked", what_is_late_at_a_stop_is_booked},
    {"what_came_just_before_a_stop_is_not_late",
     what_came_just_before_a_stop_is_not_late},
    {"what_is_late_at_a_pause_is_booked_once",
     what_is_late_at_a_pause_is_booked_once},
    {"a_clock_of_another_books_nothing", a_clock_of_another_books_nothing},
};

int main(int argc, char **argv) {
  CHECK(!sp_signal_install(SIGUSR1, sp_capture_signal));
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
