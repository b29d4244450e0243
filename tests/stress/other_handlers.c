/* The library coexists with other users of signals in the process. One sends
 * the library's signal number with sigqueue() before, during and after a
 * session, and receives each of these signals. One uses SIGPROF with
 * setitimer(), and receives every tick. One replaces the library's handler by
 * its own, which the library detects. */
#include "stress_run.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#define FOREIGN_MAGIC 4711

static int other_number;
static uint64_t work_until_ns;
static _Atomic uint64_t sent, received, later_received;
static _Atomic uint64_t ticks_armed, ticks_arrived;
static _Atomic bool ticks_enabled;

static void on_queued(int number, siginfo_t *info, void *ucontext) {
  (void)ucontext;
  if (number == other_number && info->si_code == SI_QUEUE &&
      info->si_value.sival_int == FOREIGN_MAGIC)
    atomic_fetch_add(&received, 1);
}

static void on_later(int number, siginfo_t *info, void *ucontext) {
  (void)number;
  (void)info;
  (void)ucontext;
  atomic_fetch_add(&later_received, 1);
}

/* Arm the timer for one tick after 10 ms of CPU time. An interval is not used,
 * because its ticks merge while one is pending; on a busy machine half of them
 * do. */
static int tick_arm(void) {
  struct itimerval once = {.it_value.tv_usec = 10000};

  atomic_fetch_add(&ticks_armed, 1);
  return setitimer(ITIMER_PROF, &once, NULL);
}

static void on_prof(int number) {
  int saved = errno;

  (void)number;
  atomic_fetch_add(&ticks_arrived, 1);
  if (ticks_enabled)
    tick_arm();
  errno = saved;
}

static void handler_set(int number, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART};

  STRESS_REQUIRE(sigaction(number, &action, NULL) == 0, "no handler");
}

static void signal_queue(void) {
  union sigval value = {.sival_int = FOREIGN_MAGIC};

  if (sigqueue(getpid(), other_number, value) == 0)
    atomic_fetch_add(&sent, 1);
  else
    STRESS_REQUIRE(errno == EAGAIN, "sigqueue: %s", strerror(errno));
}

static void *sender_run(void *data) {
  (void)data;
  while (stress_now_ns() < work_until_ns) {
    signal_queue();
    stress_burn(200 * STRESS_NS_PER_US);
  }
  return NULL;
}

static void *worker_run(void *data) {
  (void)data;
  while (stress_now_ns() < work_until_ns)
    stress_burn(STRESS_NS_PER_MS);
  return NULL;
}

static void received_wait(void) {
  uint64_t until_ns = stress_now_ns() + 10 * STRESS_NS_PER_S;

  while (received < sent && stress_now_ns() < until_ns)
    stress_sleep_ms(5);
  STRESS_REQUIRE(received == sent, "%llu of %llu queued signals arrived",
                 (unsigned long long)received, (unsigned long long)sent);
}

/* Burn CPU time until `count` more ticks have arrived. Each tick takes 10 ms.
 */
static void ticks_wait(uint64_t count) {
  uint64_t until_ns = stress_now_ns() + 10 * STRESS_NS_PER_S;

  while (ticks_arrived < count && stress_now_ns() < until_ns)
    stress_burn(STRESS_NS_PER_MS);
  STRESS_REQUIRE(ticks_arrived >= count, "SIGPROF: %llu of %llu ticks arrived",
                 (unsigned long long)ticks_arrived, (unsigned long long)count);
}

/* All threads work until `until_ns`, while the ticks continue. */
static void neighbours_work(uint64_t until_ns) {
  uint64_t ticks = ticks_arrived;
  pthread_t threads[3];
  unsigned i;

  work_until_ns = until_ns;
  for (i = 0; i < STRESS_COUNT_OF(threads); i++)
    pthread_create(&threads[i], NULL, i == 0 ? sender_run : worker_run, NULL);
  for (i = 0; i < STRESS_COUNT_OF(threads); i++)
    pthread_join(threads[i], NULL);
  received_wait();
  ticks_wait(ticks + 1);
}

/* The program has a handler for the library's signal before the session starts,
 * and uses SIGPROF from before the start until after the stop. */
static void share(stress_run *run, uint64_t until_ns) {
  uint64_t now_ns = stress_now_ns(), third_ns = (until_ns - now_ns) / 3;
  uint64_t sent_before;

  ticks_enabled = true;
  STRESS_REQUIRE(tick_arm() == 0, "no ITIMER_PROF");
  neighbours_work(now_ns + third_ns);
  sent_before = sent;
  stress_run_start(run);
  neighbours_work(now_ns + 2 * third_ns);
  stress_run_stop(run, 5000);
  signal_queue();
  received_wait();
  STRESS_REQUIRE(
      run->stats.signals_foreign >= sent - 1 - sent_before,
      "the library counted %llu signals of the program, which sent %llu",
      (unsigned long long)run->stats.signals_foreign,
      (unsigned long long)(sent - sent_before));
  STRESS_REQUIRE(run->stats.samples_exported > 0, "nothing was sampled");
  sent_before = sent - sent_before;
  neighbours_work(until_ns);
  ticks_enabled = false;
  ticks_wait(ticks_armed);
  printf("%llu queued signals passed on; %llu ticks of SIGPROF; ",
         (unsigned long long)sent_before, (unsigned long long)ticks_arrived);
  stress_run_print(run);
}

/* During the session the program replaces the library's handler. */
static void handler_replace(stress_run *run) {
  uint64_t until_ns = stress_now_ns() + 10 * STRESS_NS_PER_S;
  spanprof_session *none;

  stress_run_start(run);
  stress_burn(100 * STRESS_NS_PER_MS);
  handler_set(other_number, on_later);
  while (stress_stats().signal_handler_lost == 0 && stress_now_ns() < until_ns)
    stress_burn(10 * STRESS_NS_PER_MS);
  STRESS_REQUIRE(stress_stats().signal_handler_lost > 0,
                 "the replaced handler is not noticed");
  STRESS_REQUIRE(stress_run_logged(run, "other code has installed a handler"),
                 "the replaced handler is not logged: %s", run->log);
  stress_run_stop(run, 5000);
  STRESS_REQUIRE(later_received > 0, "the program's handler gets no signal");
  STRESS_REQUIRE(
      spanprof_session_start(&run->options, &none) == SPANPROF_ERR_SYSTEM &&
          strstr(spanprof_last_error(), "signal_number"),
      "a start with the program's signal: %s", spanprof_last_error());
}

/* Check that the next session finds another signal if no signal is configured.
 */
static void another(stress_run *run) {
  uint64_t theirs = later_received;

  run->options.signal_number = 0;
  stress_run_start(run);
  stress_burn(200 * STRESS_NS_PER_MS);
  stress_run_stop(run, 5000);
  STRESS_REQUIRE(run->stats.samples_exported > 0, "nothing was sampled");
  STRESS_REQUIRE(later_received == theirs,
                 "the program's handler got the library's signals");
  STRESS_REQUIRE(run->stats.signal_handler_lost == 0,
                 "the library used the program's signal");
}

int main(void) {
  struct sigaction prof = {.sa_handler = on_prof, .sa_flags = SA_RESTART};
  uint64_t until_ns = stress_begin();
  static stress_run run;

  other_number = SIGRTMAX - 1;
  handler_set(other_number, on_queued);
  sigaction(SIGPROF, &prof, NULL);
  stress_run_init(&run, "other_handlers");
  run.options.sample_rate_hz = 250;
  run.options.signal_number = other_number;
  share(&run, until_ns);
  handler_replace(&run);
  another(&run);
  stress_run_dispose(&run);
  return 0;
}
