/* Tests that each thread has its own record, for any number of threads. */
#include "sampler/thread_table.h"
#include "sampler/thread_scan.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spanprof/spanprof.h>

#include "export_fixture.h"
#include "sampler/capture.h"
#include "sampler/handler/signal.h"
#include "sampler/handler/stack_top.h"
#include "sampler/thread_record.h"
#include "util/system/counters.h"
#include "util/system/own_thread.h"

/* More than the number of records in the first two chunks. */
#define THREADS     800
#define STACK_BYTES (64 << 10)

static sem_t registered, leave;

static void *thread_run(void *data) {
  sp_thread **record = data;

  CHECK(!spanprof_thread_register());
  *record = sp_self_current()->thread;
  CHECK_EQUAL(atomic_load(&(*record)->tid), gettid());
  sem_post(&registered);
  sem_wait(&leave);
  return NULL;
}

static void many_threads_have_a_record_each(void) {
  static pthread_t threads[THREADS];
  static sp_thread *records[THREADS];
  static bool taken[2 * THREADS];
  spanprof_options options;
  spanprof_session *session;
  pthread_attr_t small;
  char directory[64];
  int i;

  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = "threads";
  options.output_directory = directory_new(directory);
  options.sample_rate_hz = 1;
  CHECK(!spanprof_session_start(&options, &session));
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  for (i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&threads[i], &small, thread_run, &records[i]));
  for (i = 0; i < THREADS; i++)
    sem_wait(&registered);
  for (i = 0; i < THREADS; i++) {
    CHECK(records[i]->index > 0 && records[i]->index < 2 * THREADS);
    CHECK(!taken[records[i]->index]);
    taken[records[i]->index] = true;
    CHECK(sp_thread_at(records[i]->index) == records[i]);
  }
  for (i = 0; i < THREADS; i++)
    sem_post(&leave);
  for (i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  CHECK(!spanprof_session_stop(session, 10000));
  directory_remove(directory);
}

static void an_index_out_of_range_has_no_record(void) {
  CHECK(!sp_thread_at(UINT32_MAX));
  CHECK(!sp_thread_at(1u << 30));
}

static void *thread_wait(void *data) {
  *(int *)data = gettid();
  sem_post(&registered);
  sem_wait(&leave);
  return NULL;
}

static bool thread_known(int tid) {
  return sp_thread_find(tid) != NULL;
}

static void timers_start(uint32_t hz) {
  sp_timer_base base;
  int number;

  sp_timer_base_init(&base, hz);
  CHECK(!sp_signal_choose(0, &number));
  CHECK(!sp_signal_install(number, sp_capture_signal));
  CHECK(!sp_threads_start(&base, number, false));
}

/* Only some scans read the task directory or check the threads that are known,
 * so repeat the test often enough for such scans. */
static void a_scan_finds_a_thread_that_replaced_another(void) {
  enum { TIMES = 20 };
  pthread_t thread;
  int tid = 0, before = 0, i;
  size_t others; /* threads that a sanitizer creates */

  timers_start(1);
  others = sp_threads_scan(NULL);
  for (i = 0; i < TIMES; i++) {
    CHECK(!pthread_create(&thread, NULL, thread_wait, &tid));
    sem_wait(&registered);
    CHECK_EQUAL(sp_threads_scan(NULL), others + 1);
    CHECK(thread_known(tid));
    CHECK(i == 0 || before == tid || !thread_known(before));
    CHECK_EQUAL(sp_threads_scan(NULL), others + 1);
    before = tid;
    sem_post(&leave);
    pthread_join(thread, NULL);
    while (!tgkill(getpid(), tid, 0))
      /* After the join, the kernel may list the thread for a moment. */
      sched_yield();
  }
  sp_threads_stop();
}

/* The record of the calling thread, or NULL. */
static sp_thread *record_own(void) {
  return sp_thread_find(gettid());
}

/* A thread of the library, which a scan finds before it registers. */
static void *ours_run(void *nothing) {
  sem_post(&registered);
  sem_wait(&leave);
  return nothing;
}

/* A scan may find a thread of the library before the thread registers. The
 * thread must not stay counted as one of the program's. Otherwise a new thread
 * of the program would be found late. */
static void a_library_thread_hides_no_program_thread(void) {
  pthread_t ours, other;
  sp_thread *record;
  int i, tid;

  timers_start(100);
  for (i = 0; i < 400; i++) {
    CHECK(!sp_own_thread_start(&ours, "ours", SP_OWN_STACK_SMALL, ours_run,
                               NULL));
    sp_threads_scan(NULL);
    sem_wait(&registered);
    CHECK(!pthread_create(&other, NULL, thread_wait, &tid));
    sem_wait(&registered);
    sp_threads_scan(NULL);
    pthread_mutex_lock(&sp_threads.lock);
    record = sp_thread_find(tid);
    CHECK(record && record->timer != SP_TIMER_NONE);
    pthread_mutex_unlock(&sp_threads.lock);
    sem_post(&leave);
    sem_post(&leave);
    pthread_join(ours, NULL);
    pthread_join(other, NULL);
  }
  sp_threads_stop();
}

static void own_record_check(void) {
  const sp_thread *record = record_own();

  CHECK(record);
  CHECK(record->timer != SP_TIMER_NONE);
  CHECK(atomic_load(&record->self) == sp_self_current());
  CHECK(sp_self_current()->thread == record);
}

/* With an unlimited stack, the memory far below the main stack may be a heap or
 * unmapped. */
static void an_unlimited_stack_excludes_a_heap(void) {
  const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
  /* A variable may be on a separate stack of a sanitizer. */
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  struct rlimit before;
  const sp_thread *record;

  CHECK(!getrlimit(RLIMIT_STACK, &before));
  if (before.rlim_max != RLIM_INFINITY)
    CHECK_SKIP("the hard limit of the stack size is not unlimited");
  CHECK(!setrlimit(RLIMIT_STACK, &unlimited));
  timers_start(1);
  spanprof_thread_unregister();
  CHECK(!spanprof_thread_register());
  record = record_own();
  CHECK(record->stack_low < here);
  CHECK(record->stack_high > here);
  CHECK(record->stack_high - record->stack_low <= SP_STACK_BYTES_MAX);
  sp_threads_stop();
  CHECK(!setrlimit(RLIMIT_STACK, &before));
}

typedef struct place {
  uint64_t tp;
  uint64_t outer;
  uint64_t inner; /* stack pointer that is some pages deeper than `outer` */
  int tid;
} place;

static void *place_run(void *data) {
  place *here = data;
  const size_t size = 4 * SP_COPY_PAGE_BYTES;
  /* alloca() memory is never on a sanitizer's separate stack. */
  volatile char *deep = __builtin_alloca(size);
  size_t i;

  for (i = 0; i < size; i++)
    deep[i] = 1;
  here->tp = (uint64_t)(uintptr_t)__builtin_thread_pointer();
  here->inner = (uint64_t)(uintptr_t)deep;
  here->outer = here->inner + size;
  return thread_wait(&here->tid);
}

/* Store a stack pointer as the handler does, and let a scan look up the
 * stack. */
static uint64_t stack_low_seen(sp_thread *record, uint64_t sp) {
  atomic_store(&record->seen_sp, sp);
  sp_threads.stacks_due_ns = 0;
  sp_threads_scan(NULL);
  return atomic_load(&record->stack_low);
}

static void a_stack_is_known_as_deep_as_it_was_sampled(void) {
  const uint64_t page = SP_COPY_PAGE_BYTES;
  pthread_t thread;
  sp_thread *record;
  place here = {0};

  timers_start(1);
  CHECK(!pthread_create(&thread, NULL, place_run, &here));
  sem_wait(&registered);
  sp_threads_scan(NULL);
  record = sp_thread_find(here.tid);
  CHECK(record);
  atomic_store(&record->seen_tp, here.tp);
  CHECK_EQUAL(stack_low_seen(record, here.outer), here.outer / page * page);
  CHECK_EQUAL(stack_low_seen(record, here.inner), here.inner / page * page);
  CHECK_EQUAL(stack_low_seen(record, here.outer), here.inner / page * page);
  /* A sample on another stack ends the lookups for this thread. */
  CHECK_EQUAL(stack_low_seen(record, 4096), here.inner / page * page);
  CHECK(record->stack_final);
  sem_post(&leave);
  pthread_join(thread, NULL);
  sp_threads_stop();
}

static void a_thread_found_again_has_its_labels(void) {
  timers_start(1);
  CHECK(!spanprof_thread_register());
  own_record_check();
  spanprof_thread_unregister();
  CHECK(!record_own());
  sp_threads_scan(NULL);
  own_record_check();
  sp_threads_stop();
}

static void a_thread_no_longer_excluded_has_its_labels(void) {
  size_t threads;

  timers_start(1);
  threads = sp_threads_scan(NULL);
  spanprof_thread_exclude(1);
  spanprof_thread_exclude(1);
  CHECK_EQUAL(record_own()->timer, SP_TIMER_NONE);
  CHECK_EQUAL(sp_threads_scan(NULL), threads);
  CHECK_EQUAL(record_own()->timer, SP_TIMER_NONE);
  CHECK(!spanprof_thread_register());
  CHECK_EQUAL(record_own()->timer, SP_TIMER_NONE);
  sp_threads_stop();
  timers_start(1);
  CHECK_EQUAL(record_own()->timer, SP_TIMER_NONE);
  spanprof_thread_exclude(0);
  own_record_check();
  CHECK_EQUAL(sp_threads_scan(NULL), threads);
  sp_threads_stop();
}

static void *excluded_run(void *nothing) {
  spanprof_thread_exclude(1);
  CHECK(!record_own() || record_own()->timer == SP_TIMER_NONE);
  sem_post(&registered);
  sem_wait(&leave);
  return nothing;
}

/* Each thread excludes itself, and is counted once. There are enough scans
 * that some read the task directory, and some check the threads that are known.
 */
static void any_number_of_threads_is_excluded(void) {
  enum { EXCLUDED = 40, SCANS = 20 };
  pthread_t threads[EXCLUDED];
  size_t others;
  int i;

  timers_start(1);
  others = sp_threads_scan(NULL);
  for (i = 0; i < EXCLUDED; i++)
    CHECK(!pthread_create(&threads[i], NULL, excluded_run, NULL));
  for (i = 0; i < EXCLUDED; i++)
    sem_wait(&registered);
  for (i = 0; i < SCANS; i++)
    CHECK_EQUAL(sp_threads_scan(NULL), others + EXCLUDED);
  CHECK_EQUAL(sp_threads.excluded_count, EXCLUDED);
  for (i = 0; i < EXCLUDED; i++)
    sem_post(&leave);
  for (i = 0; i < EXCLUDED; i++)
    pthread_join(threads[i], NULL);
  CHECK_EQUAL(sp_threads.excluded_count, 0);
  sp_threads_stop();
}

static void *blocked_run(void *nothing) {
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  sem_post(&registered);
  sem_wait(&leave);
  return nothing;
}

/* There are more threads than one scan reads. Each thread is read twice, and
 * blocked threads are read again in between, because they may have unblocked
 * the signal. */
static void any_number_of_blocked_threads_is_found(void) {
  enum { BLOCKED = 80, SCANS = 2 * BLOCKED / 20 + 4 };
  pthread_t threads[BLOCKED];
  int i;

  timers_start(1);
  for (i = 0; i < BLOCKED; i++)
    CHECK(!pthread_create(&threads[i], NULL, blocked_run, NULL));
  for (i = 0; i < BLOCKED; i++)
    sem_wait(&registered);
  for (i = 0; i < SCANS; i++)
    sp_threads_scan(NULL);
  CHECK(atomic_load(&sp_counts.threads_blocked) >= BLOCKED);
  for (i = 0; i < BLOCKED; i++)
    sem_post(&leave);
  for (i = 0; i < BLOCKED; i++)
    pthread_join(threads[i], NULL);
  sp_threads_stop();
}

#if !defined(__SANITIZE_THREAD__)
static void a_child_forked_with_signals_blocked_has_its_labels(void) {
  spanprof_options options;
  spanprof_session *session;
  sigset_t all, before;
  char directory[64];
  int status;
  pid_t pid;

  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = "threads";
  options.output_directory = directory_new(directory);
  CHECK(!spanprof_session_start(&options, &session));
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pid = fork();
  CHECK(pid >= 0);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (pid == 0) {
    own_record_check();
    _exit(0);
  }
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK_EQUAL(status, 0);
  CHECK(!spanprof_session_stop(session, 10000));
  directory_remove(directory);
}
#endif

int main(void) {
  sem_init(&registered, 0, 0);
  sem_init(&leave, 0, 0);
  many_threads_have_a_record_each();
  an_index_out_of_range_has_no_record();
  a_scan_finds_a_thread_that_replaced_another();
  a_library_thread_hides_no_program_thread();
  an_unlimited_stack_excludes_a_heap();
  a_stack_is_known_as_deep_as_it_was_sampled();
  a_thread_found_again_has_its_labels();
  a_thread_no_longer_excluded_has_its_labels();
  any_number_of_threads_is_excluded();
  any_number_of_blocked_threads_is_found();
  /* ThreadSanitizer allows no threads in a forked child. */
#if !defined(__SANITIZE_THREAD__)
  a_child_forked_with_signals_blocked_has_its_labels();
#endif
  return 0;
}
