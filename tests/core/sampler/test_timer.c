#include "sampler/handler/timer.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "sampler/handler/signal.h"
#include "util/system/clock.h"
#include "util/system/counters.h"

static _Atomic uint64_t handled, handled_ticks;
static _Atomic uint32_t handled_index;

static void count_signal(int number, uint32_t index, uint64_t ticks,
                         void *ucontext) {
  (void)number, (void)ucontext;
  atomic_fetch_add(&handled, 1);
  atomic_fetch_add(&handled_ticks, ticks);
  atomic_store(&handled_index, index);
}

static int signal_in_use(void) {
  int number;

  CHECK_EQUAL(sp_signal_choose(0, &number), SPANPROF_OK);
  CHECK(number >= SIGRTMIN && number < SIGRTMAX);
  CHECK_EQUAL(sp_signal_install(number, count_signal), SPANPROF_OK);
  return number;
}

static void the_probe_sees_the_kernel_tick(void) {
  CHECK_EQUAL(sp_timer_probe(signal_in_use()), SPANPROF_OK);
}

static void ticks_follow_the_threads_cpu_time(void) {
  sp_timer_base base = {.interval_ns = 2 * SP_NS_PER_MS};
  int number = signal_in_use();
  uint64_t ticks, expired, used_ns;
  sp_timer timer;

  atomic_store(&handled_ticks, 0);
  used_ns = sp_thread_cpu_ns();
  CHECK_EQUAL(sp_timer_start(&timer, &base, gettid(), number,
                             sp_signal_value(77), base.interval_ns),
              0);
  burn_cpu_ns(400 * SP_NS_PER_MS);
  /* The last timer signal needs a tick of the kernel (10 ms at HZ 100), which a
   * busy host of a virtual machine delays. The signal then reports all expired
   * ticks. */
  ticks = atomic_load(&handled_ticks);
  while (atomic_load(&handled_ticks) == ticks &&
         sp_thread_cpu_ns() - used_ns < 5 * SP_NS_PER_S)
    burn_cpu_ms(20);
  CHECK_EQUAL(sp_timer_check(timer), SP_TIMER_ARMED);
  sp_timer_stop(timer);
  used_ns = sp_thread_cpu_ns() - used_ns;
  ticks = atomic_load(&handled_ticks);
  expired = used_ns / base.interval_ns;
  CHECK(ticks <= expired && ticks * 4 >= expired * 3);
  CHECK_EQUAL(atomic_load(&handled_index), 77);
  CHECK_EQUAL(sp_timer_check(timer), SP_TIMER_DEAD);
}

typedef struct other_thread {
  sem_t started, leave;
  int tid;
} other_thread;

static void *other_run(void *data) {
  other_thread *other = data;

  other->tid = gettid();
  sem_post(&other->started);
  sem_wait(&other->leave);
  return NULL;
}

static void a_timer_of_an_ended_thread_is_reported_dead(void) {
  sp_timer_base base = {.interval_ns = 10 * SP_NS_PER_MS};
  other_thread other;
  pthread_t thread;
  sp_timer timer;

  sem_init(&other.started, 0, 0);
  sem_init(&other.leave, 0, 0);
  CHECK_EQUAL(pthread_create(&thread, NULL, other_run, &other), 0);
  sem_wait(&other.started);
  CHECK_EQUAL(sp_timer_start(&timer, &base, other.tid, signal_in_use(),
                             sp_signal_value(5), 1),
              0);
  CHECK_EQUAL(sp_timer_check(timer), SP_TIMER_ARMED);
  CHECK(sp_timer_thread_cpu_ns(other.tid) > 0);
  sem_post(&other.leave);
  pthread_join(thread, NULL);
  /* A join may return shortly before the kernel ends the thread. */
  while (sp_timer_check(timer) != SP_TIMER_DEAD)
    sched_yield();
  CHECK_EQUAL(sp_timer_thread_cpu_ns(other.tid), 0);
  sp_timer_stop(timer);
}

/* This interval is so short that the timer expires about ten times between two
 * ticks of the kernel. */
static const sp_timer_base quick_base = {.interval_ns = 100 * UINT64_C(1000)};

typedef struct unseen_timer {
  sp_timer timer;
  int tid;
  uint64_t due_ns;
  sem_t expired, leave;
} unseen_timer;

static void *unseen_run(void *data) {
  unseen_timer *unseen = data;
  const int number = signal_in_use();
  uint64_t tick;

  unseen->tid = gettid();
  /* Start a timer that expires without being noticed by a tick of the kernel.
   * Try again if a tick has noticed it. */
  do {
    atomic_store(&handled, 0);
    tick = burn_find_tick();
    unseen->due_ns = sp_thread_cpu_ns() + quick_base.interval_ns;
    CHECK_EQUAL(sp_timer_start(&unseen->timer, &quick_base, gettid(), number,
                               sp_signal_value(3), quick_base.interval_ns),
                0);
    burn_between_ticks(10 * quick_base.interval_ns, tick);
    if (atomic_load(&handled) > 0)
      sp_timer_stop(unseen->timer);
  } while (atomic_load(&handled) > 0);
  atomic_store(&handled_ticks, 0);
  sem_post(&unseen->expired);
  while (sem_wait(&unseen->leave) != 0)
    ;
  return NULL;
}

static void an_unnoticed_expired_timer_sends_its_signal_once(void) {
  unseen_timer unseen;
  pthread_t thread;
  uint64_t ticks, used_ns;

  sem_init(&unseen.expired, 0, 0);
  sem_init(&unseen.leave, 0, 0);
  CHECK_EQUAL(pthread_create(&thread, NULL, unseen_run, &unseen), 0);
  sem_wait(&unseen.expired);
  sp_timer_fire(unseen.timer, &quick_base, unseen.due_ns);
  while (atomic_load(&handled) == 0)
    sched_yield();
  ticks = atomic_load(&handled_ticks);
  CHECK(ticks >= 9 && ticks < 100);
  /* Fire the timer again, for the CPU time that the thread has used since those
   * ticks, including the time of its handler. */
  sp_timer_fire(unseen.timer, &quick_base,
                unseen.due_ns + ticks * quick_base.interval_ns);
  usleep(20000);
  /* Linux before 6.13 may count one overrun too many. */
  used_ns = sp_timer_thread_cpu_ns(unseen.tid) - unseen.due_ns;
  CHECK(atomic_load(&handled_ticks) <= 2 + used_ns / quick_base.interval_ns);
  sp_timer_stop(unseen.timer);
  sem_post(&unseen.leave);
  pthread_join(thread, NULL);
}

static _Atomic int before_calls;

static void before_handler(int number) {
  (void)number;
  atomic_fetch_add(&before_calls, 1);
}

static void signals_of_others_go_to_the_handler_before_ours(void) {
  uint64_t others = sp_counted(&sp_counts.signals_foreign);
  int number = SIGRTMIN + 3;
  struct sigaction before = {.sa_handler = before_handler};
  union sigval value = {.sival_int = 1};

  CHECK_EQUAL(sigaction(number, &before, NULL), 0);
  CHECK_EQUAL(sp_signal_install(number, count_signal), SPANPROF_OK);
  CHECK_EQUAL(raise(number), 0);
  CHECK_EQUAL(sigqueue(getpid(), number, value), 0);
  CHECK_EQUAL(atomic_load(&before_calls), 2);
  CHECK_EQUAL(sp_counted(&sp_counts.signals_foreign), others + 2);
  CHECK(sp_signal_owned(number));
}

static void a_handler_installed_over_ours_is_detected_and_kept(void) {
  uint64_t lost = sp_counted(&sp_counts.signal_handler_lost);
  int number = SIGRTMIN + 4;
  struct sigaction theirs = {.sa_handler = before_handler}, now;

  CHECK_EQUAL(sp_signal_install(number, count_signal), SPANPROF_OK);
  CHECK_EQUAL(sigaction(number, &theirs, NULL), 0);
  CHECK(!sp_signal_owned(number));
  CHECK_EQUAL(sp_counted(&sp_counts.signal_handler_lost), lost + 1);
  CHECK_EQUAL(sp_signal_install(number, count_signal), SPANPROF_ERR_SYSTEM);
  CHECK_EQUAL(sigaction(number, NULL, &now), 0);
  CHECK(now.sa_handler == before_handler);
}

static void unsuitable_signals_are_refused(void) {
  static const int numbers[] = {-1, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, 1000};
  size_t i;
  int out;

  for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    CHECK_EQUAL(sp_signal_choose(numbers[i], &out), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(sp_signal_choose(SIGPROF, &out), SPANPROF_OK);
  CHECK_EQUAL(out, SIGPROF);
}

static void a_used_real_time_signal_is_skipped(void) {
  struct sigaction theirs = {.sa_handler = before_handler};
  int number;

  CHECK_EQUAL(sigaction(SIGRTMAX - 2, &theirs, NULL), 0);
  theirs.sa_handler = SIG_IGN;
  CHECK_EQUAL(sigaction(SIGRTMAX - 3, &theirs, NULL), 0);
  signal(SIGRTMAX - 1, SIG_IGN);
  CHECK_EQUAL(sp_signal_choose(0, &number), SPANPROF_OK);
  CHECK_EQUAL(number, SIGRTMAX - 4);
}

static const check_test tests[] = {
    {"the_probe_sees_the_kernel_tick", the_probe_sees_the_kernel_tick},
    {"ticks_follow_the_threads_cpu_time", ticks_follow_the_threads_cpu_time},
    {"a_timer_of_an_ended_thread_is_reported_dead",
     a_timer_of_an_ended_thread_is_reported_dead},
    {"an_unnoticed_expired_timer_sends_its_signal_once",
     an_unnoticed_expired_timer_sends_its_signal_once},
    {"signals_of_others_go_to_the_handler_before_ours",
     signals_of_others_go_to_the_handler_before_ours},
    {"a_handler_installed_over_ours_is_detected_and_kept",
     a_handler_installed_over_ours_is_detected_and_kept},
    {"unsuitable_signals_are_refused", unsuitable_signals_are_refused},
    {"a_used_real_time_signal_is_skipped", a_used_real_time_signal_is_skipped},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
