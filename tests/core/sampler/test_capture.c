#include "sampler/capture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check.h"
#include "sampler/handler/runtime.h"
#include "sampler/thread_arming.h"
#include "util/system/counters.h"

static const sp_capture_config capture_config = {.slice_bytes_max = 4096,
                                                 .interval_ns = SP_NS_PER_S};

/* Timers that never expire, because the tests call the handler themselves. */
static const sp_timer_base still_base = {.wall = true,
                                         .interval_ns = 1000000 * SP_NS_PER_S};

#define SAMPLE_WHY                                                     \
  (SP_SAMPLE_BLOCKED | SP_SAMPLE_THREAD_START | SP_SAMPLE_THREAD_END | \
   SP_SAMPLE_NO_TIMER | SP_SAMPLE_RING_FULL)

static uint32_t index_here(void) {
  const sp_thread *thread = sp_self_current()->thread;

  return thread->index;
}

/* Call the handler as if a signal had arrived here. */
static void signal_here(uint64_t ticks) {
  ucontext_t here;

  getcontext(&here);
  sp_capture_signal(60, index_here(), ticks, &here);
}

static size_t samples_read(sp_capture *capture) {
  sp_ring *ring = sp_capture_ring(capture);
  unsigned shard = 0;
  size_t count = 0, bytes;

  for (; sp_ring_next(ring, &shard, &bytes); count++)
    sp_ring_release(ring, shard);
  return count;
}

/* The reason why the only sample in the ring has no stack; 0: it has a
 * stack. */
static uint32_t sample_why(sp_capture *capture) {
  sp_ring *ring = sp_capture_ring(capture);
  unsigned shard = 0;
  size_t bytes;
  const sp_sample *sample = sp_ring_next(ring, &shard, &bytes);
  uint32_t why;

  CHECK(sample != NULL);
  why = sample->flags & SAMPLE_WHY;
  sp_ring_release(ring, shard);
  CHECK_EQUAL(samples_read(capture), 0);
  return why;
}

static sp_capture *capture_started(void) {
  sp_capture *capture;

  CHECK_EQUAL(sp_capture_acquire(&capture), SPANPROF_OK);
  sp_capture_begin(capture, &capture_config);
  return capture;
}

static void capture_stopped(sp_capture *capture) {
  sp_capture_end();
  sp_capture_release(capture);
}

/* walk_slowly() does not return while this is set, as if its thread was
 * preempted. */
static _Atomic bool walk_paused;
static _Atomic int walking;

static size_t walk_slowly(void *data, const spanprof_capture *capture,
                          spanprof_frame *frames, size_t max, int *cut) {
  (void)data, (void)capture, (void)frames, (void)max;
  walking++;
  while (walk_paused)
    sched_yield();
  *cut = 0;
  return 0;
}

static spanprof_status resolve_nothing(void *data, const spanprof_frame *frame,
                                       spanprof_name *out) {
  (void)data, (void)frame, (void)out;
  return SPANPROF_ERR_STATE;
}

static void *late_run(void *data) {
  (void)data;
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  signal_here(1);
  return NULL;
}

static pthread_t late_start(void) {
  int before = walking;
  pthread_t thread;

  CHECK_EQUAL(pthread_create(&thread, NULL, late_run, NULL), 0);
  while (walking == before)
    sched_yield();
  return thread;
}

static void a_late_handler_does_not_write_to_a_later_session(void) {
  spanprof_runtime runtime = {.struct_size = sizeof runtime,
                              .name = "slow",
                              .walk = walk_slowly,
                              .resolve = resolve_nothing};
  sp_capture *first, *second, *third;
  pthread_t late, later;
  int i;

  walk_paused = true;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  first = capture_started();
  late = late_start();
  CHECK(sp_capture_busy(first));
  capture_stopped(first);
  second = capture_started();
  CHECK(sp_capture_ring(second) != sp_capture_ring(first));
  later = late_start();
  capture_stopped(second);
  CHECK_EQUAL(sp_capture_acquire(&third), SPANPROF_ERR_LIMIT);
  CHECK(!third);
  sp_counters_reset();
  walk_paused = false;
  pthread_join(late, NULL);
  pthread_join(later, NULL);
  CHECK_EQUAL(sp_counted(&sp_counts.samples_taken), 2);
  CHECK_EQUAL(sp_counted(&sp_counts.samples_dropped_stop), 2);
  spanprof_runtime_unregister();
  for (i = 0; i < 4; i++) {
    third = capture_started();
    CHECK(third == first);
    CHECK(!sp_ring_busy(sp_capture_ring(third)));
    signal_here(1);
    CHECK_EQUAL(samples_read(third), 1);
    capture_stopped(third);
  }
}

static void a_capture_stays_acquired_until_its_reader_releases_it(void) {
  sp_capture *first = capture_started(), *second;

  sp_capture_end();
  second = capture_started();
  CHECK(second != first);
  signal_here(1);
  CHECK_EQUAL(samples_read(first), 0);
  CHECK_EQUAL(samples_read(second), 1);
  sp_capture_release(first);
  capture_stopped(second);
}

/* The timers of a young forked child send another signal than the session's, so
 * it does not matter whether the session's signal is blocked. */
static void a_signal_is_blocked_by_its_own_number(void) {
  sp_capture *capture = capture_started();
  ucontext_t here;

  getcontext(&here);
  sigaddset(&here.uc_sigmask, 60);
  sp_capture_signal(SIGURG, index_here(), 1, &here);
  CHECK_EQUAL(sample_why(capture), 0);
  sp_capture_signal(60, index_here(), 1, &here);
  CHECK_EQUAL(sample_why(capture), SP_SAMPLE_BLOCKED);
  capture_stopped(capture);
}

#if defined(__x86_64__)
/* The program has made a stack whose reported bounds include its guard page. */
static void a_guard_page_below_the_stack_is_not_read(void) {
  sp_capture *capture = capture_started();
  sp_thread *thread = sp_self_current()->thread;
  const uint64_t low = thread->stack_low, high = thread->stack_high;
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ucontext_t here;

  CHECK(pages != MAP_FAILED && !mprotect(pages, 4096, PROT_NONE));
  thread->stack_low = (uint64_t)(uintptr_t)pages;
  thread->stack_high = thread->stack_low + 8192;
  getcontext(&here);
  here.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(pages + 4096 + 64);
  sp_capture_signal(60, index_here(), 1, &here);
  CHECK_EQUAL(samples_read(capture), 1);
  thread->stack_low = low;
  thread->stack_high = high;
  munmap(pages, 8192);
  capture_stopped(capture);
}

/* Map two pages; the first one ends with the given bytes. */
static char *code_pages(const char end[2]) {
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  CHECK(pages != MAP_FAILED);
  memcpy(pages + 4094, end, 2);
  return pages;
}

/* Deliver a late signal that interrupted the code at `pc`, when the registers
 * contain the arguments of rt_sigprocmask. */
static void signal_at(const char *pc, const uint64_t *mask_before) {
  ucontext_t here;

  getcontext(&here);
  here.uc_mcontext.gregs[REG_RDX] = (greg_t)(uintptr_t)mask_before;
  here.uc_mcontext.gregs[REG_RAX] = 0;
  here.uc_mcontext.gregs[REG_R10] = 8;
  here.uc_mcontext.gregs[REG_RDI] = SIG_SETMASK;
  here.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)pc;
  sp_capture_signal(60, index_here(), 2, &here);
}

static void code_at_a_mappings_start_is_not_read_before_it(void) {
  sp_capture *capture = capture_started();
  char *other = code_pages("xy"), *call = code_pages("\x0f\x05");

  signal_at(other + 4096, NULL);
  CHECK_EQUAL(sample_why(capture), 0);
  CHECK_EQUAL(munmap(other, 4096), 0);
  signal_at(other + 4096, NULL);
  CHECK_EQUAL(sample_why(capture), 0);
  signal_at(other + 4097, NULL);
  CHECK_EQUAL(sample_why(capture), 0);
  signal_at(call + 4096, NULL);
  CHECK_EQUAL(sample_why(capture), SP_SAMPLE_BLOCKED);
  memcpy(call + 5000, "\x0f\x05", 2);
  signal_at(call + 5002, NULL);
  CHECK_EQUAL(sample_why(capture), SP_SAMPLE_BLOCKED);
  capture_stopped(capture);
  munmap(other + 4096, 4096);
  munmap(call, 8192);
}

/* rt_sigprocmask() also returned the previous mask, as in swapcontext(). If
 * that mask did not block the signal, nothing was blocked. */
static void an_open_previous_mask_means_nothing_was_blocked(void) {
  sp_capture *capture = capture_started();
  char *call = code_pages("\x0f\x05");
  uint64_t mask = 0;

  signal_at(call + 4096, &mask);
  CHECK_EQUAL(sample_why(capture), 0);
  mask = UINT64_C(1) << 59;
  signal_at(call + 4096, &mask);
  CHECK_EQUAL(sample_why(capture), SP_SAMPLE_BLOCKED);
  capture_stopped(capture);
  munmap(call, 8192);
}
#endif

/* Ticks that a scan has recorded for a thread that blocks the signal are not
 * counted again when the signal is delivered. */
static void recorded_ticks_are_subtracted(void) {
  sp_capture *capture = capture_started();
  sp_thread *thread = sp_self_current()->thread;

  atomic_store(&thread->ticks_ahead, 5);
  sp_counters_reset();
  signal_here(3);
  CHECK_EQUAL(samples_read(capture), 0);
  signal_here(3);
  CHECK_EQUAL(sample_why(capture), SP_SAMPLE_BLOCKED);
  CHECK_EQUAL(sp_counted(&sp_counts.ticks_taken), 1);
  CHECK_EQUAL(atomic_load(&thread->ticks_ahead), 0);
  capture_stopped(capture);
}

/* If the ring has no space, a sample is written without its stack. If that does
 * not fit either, its ticks are counted and recorded later. */
static void a_full_ring_loses_no_tick(void) {
  enum { SIGNALS = 100000 };
  sp_capture *capture = capture_started();
  sp_thread *thread = sp_self_current()->thread;
  uint64_t taken, rejected;
  int i;

  sp_counters_reset();
  for (i = 0; i < SIGNALS; i++)
    signal_here(1);
  taken = sp_counted(&sp_counts.ticks_taken);
  rejected = atomic_load(&thread->ticks_rejected);
  CHECK(rejected > 0);
  CHECK_EQUAL(taken + rejected, SIGNALS);
  CHECK_EQUAL(sp_counted(&sp_counts.ticks_dropped), 0);
  CHECK(samples_read(capture) > 0);
  sp_thread_book_rejected(thread, false);
  CHECK_EQUAL(sample_why(capture), SP_SAMPLE_RING_FULL);
  CHECK_EQUAL(sp_counted(&sp_counts.ticks_taken), SIGNALS);
  capture_stopped(capture);
}

static const check_test tests[] = {
    {"a_late_handler_does_not_write_to_a_later_session",
     a_late_handler_does_not_write_to_a_later_session},
    {"a_capture_stays_acquired_until_its_reader_releases_it",
     a_capture_stays_acquired_until_its_reader_releases_it},
    {"a_signal_is_blocked_by_its_own_number",
     a_signal_is_blocked_by_its_own_number},
    {"recorded_ticks_are_subtracted", recorded_ticks_are_subtracted},
    {"a_full_ring_loses_no_tick", a_full_ring_loses_no_tick},
#if defined(__x86_64__)
    {"a_guard_page_below_the_stack_is_not_read",
     a_guard_page_below_the_stack_is_not_read},
    {"code_at_a_mappings_start_is_not_read_before_it",
     code_at_a_mappings_start_is_not_read_before_it},
    {"an_open_previous_mask_means_nothing_was_blocked",
     an_open_previous_mask_means_nothing_was_blocked},
#endif
};

int main(int argc, char **argv) {
  /* Ignore the signal, because no timer is set if the signal has its default
   * action. */
  signal(60, SIG_IGN);
  CHECK_EQUAL(sp_threads_start(&still_base, 60, false), SPANPROF_OK);
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
