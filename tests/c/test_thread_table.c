/* Each thread has a record of its own, whatever their number. */
#include "sampler/thread_table.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <spanprof/spanprof.h>

#include "export_fixture.h"
#include "sampler/capture.h"
#include "sampler/signal.h"
#include "sampler/thread_table_inside.h"

/* More than the first two chunks have. */
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

static void an_index_out_of_range_has_none(void) {
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
  return sp_tid_map_get(&sp_threads.by_tid, tid) != 0;
}

/* As many times as make a scan of each kind. */
static void a_scan_finds_who_took_the_place_of_another(void) {
  enum { TIMES = 20 };
  sp_timer_base base;
  pthread_t thread;
  int number, tid = 0, before = 0, i;
  size_t others; /* sanitizers have threads of their own */

  sp_timer_base_init(&base, 1);
  CHECK(!sp_signal_choose(0, &number));
  CHECK(!sp_signal_install(number, sp_capture_signal));
  CHECK(!sp_threads_start(&base, number));
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
      sched_yield(); /* joined a moment before it is gone */
  }
  sp_threads_stop();
}

int main(void) {
  sem_init(&registered, 0, 0);
  sem_init(&leave, 0, 0);
  many_threads_have_a_record_each();
  an_index_out_of_range_has_none();
  a_scan_finds_who_took_the_place_of_another();
  return 0;
}
