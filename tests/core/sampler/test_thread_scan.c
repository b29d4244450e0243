/* Threads that block spanprof's signal are found for every user. They are
 * logged without a lock that another thread or a fork needs. Also tests threads
 * that avoid the kernel's ticks. */
#include "sampler/thread_scan.h"

#include <errno.h>
#include <grp.h>
#include <linux/limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "sampler/capture.h"
#include "sampler/handler/signal.h"
#include "sampler/thread_record.h"
#include "sampler/thread_status.h"
#include "util/system/counters.h"

static const sp_timer_base quick_base = {.interval_ns = SP_NS_PER_MS};
static sem_t blocked, leave;
static _Atomic bool blocked_burns;

static void *blocked_run(void *tid) {
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  *(int *)tid = gettid();
  sem_post(&blocked);
  while (atomic_load(&blocked_burns))
    burn_cpu_ms(5);
  sem_wait(&leave);
  return NULL;
}

static pthread_t blocked_start(int *tid) {
  pthread_t thread;

  CHECK_EQUAL(pthread_create(&thread, NULL, blocked_run, tid), 0);
  sem_wait(&blocked);
  return thread;
}

static void blocked_end(pthread_t thread) {
  sem_post(&leave);
  pthread_join(thread, NULL);
}

static const char *blocked_name;
static int logged, logged_thread;

static void log_with_the_lock_free(void *data, spanprof_log_level level,
                                   const char *message) {
  (void)data, (void)level;
  CHECK(strstr(message, "blocks signal"));
  CHECK_EQUAL(pthread_mutex_trylock(&sp_threads.lock), 0);
  pthread_mutex_unlock(&sp_threads.lock);
  logged++;
  logged_thread += strstr(message, blocked_name) != NULL;
}

static void cpu_used_wait(int tid, uint64_t ns) {
  const uint64_t until_ns = sp_timer_thread_cpu_ns(tid) + ns;

  while (sp_timer_thread_cpu_ns(tid) < until_ns)
    usleep(1000);
}

/* Scan several times while a thread with this name blocks spanprof's signal.
 * One scan is not enough, because a thread that is being created blocks every
 * signal for a moment. */
static void blocked_scan(const char *name, bool burns) {
  pthread_t thread;
  sp_log log;
  int tid, i;

  blocked_name = name;
  logged = logged_thread = 0;
  atomic_store(&blocked_burns, burns);
  thread = blocked_start(&tid);
  CHECK_EQUAL(pthread_setname_np(thread, name), 0);
  sp_log_init(&log, log_with_the_lock_free, NULL, SPANPROF_LOG_INFO,
              sp_clock_system());
  CHECK(!sp_threads_start(&quick_base, SIGUSR1, false));
  for (i = 0; i < 4; i++) {
    sp_threads_scan(&log);
    if (burns)
      cpu_used_wait(tid, 40 * SP_NS_PER_MS);
  }
  CHECK(atomic_load(&sp_counts.threads_blocked) > 0);
  sp_threads_stop();
  atomic_store(&blocked_burns, false);
  blocked_end(thread);
}

static void the_log_may_wait_for_any_thread(void) {
  blocked_scan("worker", true);
  CHECK_EQUAL(logged_thread, 1);
}

static void a_blocked_idle_thread_is_not_logged(void) {
  blocked_scan("housekeeper", false);
  CHECK_EQUAL(logged, 0);
}

/* libcurl's resolver threads inherit the name of the uploader thread. `logged`
 * is not checked, because it may also count the thread that ThreadSanitizer
 * creates. */
static void blocked_resolver_threads_of_the_library_are_not_logged(void) {
  blocked_scan("spanprof-upload", true);
  CHECK_EQUAL(logged_thread, 0);
}

/* If the user has many groups, the line with the signal mask in
 * /proc/PID/status is several kilobytes from its start. */
static void a_mask_is_read_after_any_number_of_groups(void) {
  enum { GROUPS = 1000 };
  static gid_t groups[GROUPS], before[NGROUPS_MAX];
  const int before_count = getgroups(NGROUPS_MAX, before);
  sp_thread_status status;
  pthread_t thread;
  int tid, i;

  for (i = 0; i < GROUPS; i++)
    groups[i] = 10000000 + (gid_t)i;
  if (setgroups(GROUPS, groups)) {
    CHECK_EQUAL(errno, EPERM);
    CHECK_SKIP("only root can set its groups");
  }
  thread = blocked_start(&tid);
  CHECK(sp_thread_status_read(tid, &status));
  CHECK(status.blocked >> (SIGUSR1 - 1) & 1);
  CHECK(sp_thread_status_read(gettid(), &status));
  CHECK(!(status.blocked >> (SIGUSR1 - 1) & 1));
  CHECK(strncmp(status.name, "test_thread_sca", 15) == 0);
  blocked_end(thread);
  CHECK(!sp_thread_status_read(0, &status));
  CHECK_EQUAL(setgroups((size_t)before_count, before), 0);
}

static void *avoid_ticks_run(void *ended) {
  burn_between_ticks(600 * SP_NS_PER_MS, burn_find_tick());
  atomic_store((_Atomic bool *)ended, true);
  return NULL;
}

/* The thread is descheduled before each tick of the kernel, so the kernel does
 * not notice that its timer has expired. */
static void a_thread_that_avoids_kernel_ticks_is_sampled(void) {
  const sp_timer_base base = {.interval_ns = 2 * SP_NS_PER_MS};
  const sp_capture_config config = {.interval_ns = base.interval_ns};
  _Atomic bool ended = false;
  sp_capture *capture;
  pthread_t thread;
  uint64_t ticks;

  CHECK(!sp_signal_install(SIGUSR2, sp_capture_signal));
  CHECK(!sp_capture_acquire(&capture));
  sp_capture_begin(capture, &config);
  CHECK(!sp_threads_start(&base, SIGUSR2, false));
  sp_counters_reset();
  CHECK_EQUAL(pthread_create(&thread, NULL, avoid_ticks_run, &ended), 0);
  while (!atomic_load(&ended)) {
    sp_threads_scan(NULL);
    usleep(20000);
  }
  ticks = sp_counted(&sp_counts.ticks_taken);
  pthread_join(thread, NULL);
  sp_threads_stop();
  sp_capture_end();
  sp_capture_release(capture);
  CHECK(ticks >= 100);
}

static const check_test tests[] = {
    {"the_log_may_wait_for_any_thread", the_log_may_wait_for_any_thread},
    {"a_blocked_idle_thread_is_not_logged",
     a_blocked_idle_thread_is_not_logged},
    {"blocked_resolver_threads_of_the_library_are_not_logged",
     blocked_resolver_threads_of_the_library_are_not_logged},
    {"a_thread_that_avoids_kernel_ticks_is_sampled",
     a_thread_that_avoids_kernel_ticks_is_sampled},
    {"a_mask_is_read_after_any_number_of_groups",
     a_mask_is_read_after_any_number_of_groups},
};

int main(int argc, char **argv) {
  signal(SIGUSR1, SIG_IGN);
  sem_init(&blocked, 0, 0);
  sem_init(&leave, 0, 0);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
