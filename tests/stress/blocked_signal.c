/* A thread burns CPU time in span A while it blocks every signal. Then it
 * unblocks the signals in span B and burns CPU time there. The ticks of A
 * become samples with the frame [signal blocked] and are never attributed to
 * B's code. In one case the thread masks the signals by pthread_sigmask(). In
 * the other case it unblocks them only during its waits in ppoll(), as event
 * loops do. */
#include "stress_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#define BLOCKED_HZ 100

/* CPU time that was burned with signals unblocked (span B) and with signals
 * blocked (span A), and the samples. */
typedef struct blocked_totals {
  uint64_t open_cpu_ns;
  uint64_t masked_cpu_ns;
  _Atomic uint64_t open_ticks;    /* ticks with span B and a stack */
  _Atomic uint64_t wrong_ticks;   /* part of open_ticks without B's function */
  _Atomic uint64_t masked_ticks;  /* ticks with A's function */
  _Atomic uint64_t blocked_ticks; /* ticks with the frame [signal blocked] */
} blocked_totals;

static blocked_totals totals;

STRESS_NAMED static void blocked_burn_a(uint64_t cpu_ns) {
  uint64_t start_ns = stress_thread_cpu_ns();

  stress_burn(cpu_ns);
  totals.masked_cpu_ns += stress_thread_cpu_ns() - start_ns;
  STRESS_STAY;
}

STRESS_NAMED static void blocked_burn_b(uint64_t cpu_ns) {
  uint64_t start_ns = stress_thread_cpu_ns();

  stress_burn(cpu_ns);
  totals.open_cpu_ns += stress_thread_cpu_ns() - start_ns;
  STRESS_STAY;
}

static spanprof_span span_new(const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  spanprof_span span;

  STRESS_OK(spanprof_span_start(NULL, &info, &span));
  return span;
}

static spanprof_span_token span_in(spanprof_span span) {
  spanprof_span_token token;

  STRESS_OK(spanprof_span_enter(span, &token));
  return token;
}

/* Block every signal for `masked_ns`, as a thread of a daemon may do, then
 * unblock them for `open_ns`. */
static void mask_by_call(uint64_t masked_ns, uint64_t open_ns) {
  spanprof_span a = span_new("A"), b = span_new("B");
  sigset_t all, before;
  spanprof_span_token in;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  in = span_in(a);
  blocked_burn_a(masked_ns);
  spanprof_span_leave(in);
  spanprof_span_end(a);
  in = span_in(b);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  blocked_burn_b(open_ns);
  spanprof_span_leave(in);
  spanprof_span_end(b);
}

/* Block every signal, as an event loop does, except during the waits, which are
 * in span B. */
static void mask_but_in_ppoll(uint64_t until_ns) {
  spanprof_span a = span_new("A"), b = span_new("B");
  struct timespec wait = {.tv_nsec = 1000000};
  sigset_t all, none, before;
  spanprof_span_token in;

  sigfillset(&all);
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (stress_now_ns() < until_ns) {
    in = span_in(a);
    blocked_burn_a(35 * STRESS_NS_PER_MS);
    spanprof_span_leave(in);
    in = span_in(b);
    ppoll(NULL, 0, &wait, &none);
    spanprof_span_leave(in);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  spanprof_span_end(a);
  spanprof_span_end(b);
}

static void *long_run(void *data) {
  uint64_t until_ns = *(uint64_t *)data;

  prctl(PR_SET_NAME, "masks_all");
  while (stress_now_ns() < until_ns)
    mask_by_call(1500 * STRESS_NS_PER_MS, 300 * STRESS_NS_PER_MS);
  return NULL;
}

static void *short_run(void *data) {
  uint64_t until_ns = *(uint64_t *)data;

  while (stress_now_ns() < until_ns)
    mask_by_call(35 * STRESS_NS_PER_MS, 35 * STRESS_NS_PER_MS);
  return NULL;
}

static void *ppoll_run(void *data) {
  mask_but_in_ppoll(*(uint64_t *)data);
  return NULL;
}

static void sample_add(void *data, const tally_sample *sample) {
  (void)data;
  if (tally_sample_has(sample, "[signal blocked]")) {
    totals.blocked_ticks += sample->ticks;
    return;
  }
  if (tally_sample_has(sample, "blocked_burn_a"))
    totals.masked_ticks += sample->ticks;
  if (strcmp(sample->span_name, "B") != 0)
    return;
  totals.open_ticks += sample->ticks;
  if (!tally_sample_has(sample, "blocked_burn_b"))
    totals.wrong_ticks += sample->ticks;
}

static void kind_try(const char *name, void *(*work)(void *), uint64_t for_ns) {
  uint64_t until_ns = stress_now_ns() + for_ns, open_most, masked_least;
  static stress_run run;
  pthread_t thread;

  memset(&totals, 0, sizeof totals);
  stress_run_init(&run, "blocked_signal");
  run.options.sample_rate_hz = BLOCKED_HZ;
  run.sum.on_sample = sample_add;
  stress_run_start(&run);
  pthread_create(&thread, NULL, work, &until_ns);
  pthread_join(thread, NULL);
  stress_run_stop(&run, 5000);
  printf(
      "%s: %.2f s of CPU time with signals blocked, %llu ticks [signal "
      "blocked], "
      "%llu ticks with a stack; %.2f s with signals unblocked, %llu ticks in "
      "span B, %llu of them outside its function; ",
      name, (double)totals.masked_cpu_ns / 1e9,
      (unsigned long long)totals.blocked_ticks,
      (unsigned long long)totals.masked_ticks, (double)totals.open_cpu_ns / 1e9,
      (unsigned long long)totals.open_ticks,
      (unsigned long long)totals.wrong_ticks);
  stress_run_print(&run);
  /* The library recognises that a signal is blocked when it is two ticks late.
   */
  masked_least = totals.masked_cpu_ns * BLOCKED_HZ / STRESS_NS_PER_S;
  STRESS_REQUIRE(totals.blocked_ticks >= masked_least / 2,
                 "only %llu ticks are [signal blocked]",
                 (unsigned long long)totals.blocked_ticks);
  /* Span B must not have more than the ticks of its own time, a twentieth of
   * them for noise, and a quarter of the ticks of span A, which may be late: if
   * a host pauses the virtual machine for 50 ms, the thread's clock continues,
   * and the timer expires after the unblocking. */
  open_most = totals.open_cpu_ns * BLOCKED_HZ / STRESS_NS_PER_S;
  open_most += open_most / 20 + 10 +
               totals.masked_cpu_ns * BLOCKED_HZ / STRESS_NS_PER_S / 4;
  STRESS_REQUIRE(totals.open_ticks <= open_most,
                 "span B has %llu ticks, at most %llu are its own",
                 (unsigned long long)totals.open_ticks,
                 (unsigned long long)open_most);
  STRESS_REQUIRE(totals.masked_ticks <= 3,
                 "%llu ticks have a stack of the code with blocked signals",
                 (unsigned long long)totals.masked_ticks);
  if (work == long_run)
    STRESS_REQUIRE(stress_run_logged(&run, "masks_all"),
                   "the log does not name the thread: %s", run.log);
  stress_run_dispose(&run);
}

int main(void) {
  uint64_t third_ns;

  stress_begin();
  third_ns = stress_seconds() * STRESS_NS_PER_S / 3;
  kind_try("masked for long", long_run, third_ns);
  kind_try("masked for 35 ms", short_run, third_ns);
  kind_try("open in ppoll only", ppoll_run, third_ns);
  return 0;
}
