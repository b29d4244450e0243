/* The profile has all CPU time, with or without a stack, of programs that
 * switch coroutines, set signal masks, block every signal or create
 * unregistered threads. */
#include "stress_run.h"

#include <signal.h>
#include <ucontext.h>

#define SEEN_THREADS_MAX 8
#define SEEN_STACK_BYTES (64 * 1024)

typedef struct seen_case {
  const char *name;
  void (*work)(uint64_t until_cpu_ns);
  unsigned threads;
  uint32_t sample_rate_hz;
  /* frame that must get a part of the time; NULL: no frame is checked */
  const char *frame;
} seen_case;

static const seen_case *current_case;
static uint64_t cpu_ns_each;
static _Atomic uint64_t cpu_used_ns;
static pthread_barrier_t work_done, work_seen;

static bool more_to_do(uint64_t until_cpu_ns) {
  return stress_thread_cpu_ns() < until_cpu_ns;
}

/* A coroutine that only yields. */
typedef struct seen_coroutine {
  ucontext_t here;
  ucontext_t main;
} seen_coroutine;

static _Thread_local seen_coroutine *volatile coroutine_here;

static void coroutine_run(void) {
  for (;;)
    swapcontext(&coroutine_here->here, &coroutine_here->main);
}

static void coroutines_switch(uint64_t until_cpu_ns) {
  seen_coroutine *coroutine = malloc(sizeof *coroutine);
  void *stack = malloc(SEEN_STACK_BYTES);
  int i;

  getcontext(&coroutine->here);
  coroutine->here.uc_stack.ss_sp = stack;
  coroutine->here.uc_stack.ss_size = SEEN_STACK_BYTES;
  coroutine_here = coroutine;
  makecontext(&coroutine->here, coroutine_run, 0);
  while (more_to_do(until_cpu_ns))
    for (i = 0; i < 20000; i++)
      swapcontext(&coroutine->main, &coroutine->here);
  free(stack);
  free(coroutine);
}

static void masks_set(uint64_t until_cpu_ns) {
  sigset_t all, before;
  int i;

  sigfillset(&all);
  while (more_to_do(until_cpu_ns))
    for (i = 0; i < 20000; i++) {
      pthread_sigmask(SIG_SETMASK, &all, &before);
      pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

static void blocked_alternately(uint64_t until_cpu_ns) {
  sigset_t all, before;

  sigfillset(&all);
  while (more_to_do(until_cpu_ns)) {
    pthread_sigmask(SIG_SETMASK, &all, &before);
    stress_burn(30 * STRESS_NS_PER_MS);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    stress_burn(5 * STRESS_NS_PER_MS);
  }
}

static void blocked_always(uint64_t until_cpu_ns) {
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  stress_burn(until_cpu_ns - stress_thread_cpu_ns());
}

static void compute(uint64_t until_cpu_ns) {
  stress_burn(until_cpu_ns - stress_thread_cpu_ns());
}

static void *thread_run(void *data) {
  const uint64_t begun_ns = stress_thread_cpu_ns();

  (void)data;
  current_case->work(begun_ns + cpu_ns_each);
  atomic_fetch_add(&cpu_used_ns, stress_thread_cpu_ns());
  pthread_barrier_wait(&work_done);
  pthread_barrier_wait(&work_seen);
  return NULL;
}

/* Wait until the CPU time of the threads is recorded, except one tick of each
 * thread. The threads live until then. They are not registered, so if a thread
 * blocks the signal or was not found yet, the next scan for threads records its
 * CPU time. The scan may be late on a busy machine. */
static void ticks_wait(const seen_case *one) {
  const struct timespec pause = {.tv_nsec = 10000000};
  const uint64_t interval_ns = STRESS_NS_PER_S / one->sample_rate_hz;
  const uint64_t late_ns = stress_now_ns() + 20 * STRESS_NS_PER_S;
  spanprof_stats stats = {.struct_size = sizeof stats};

  do {
    nanosleep(&pause, NULL);
    spanprof_stats_get(&stats);
  } while ((stats.ticks_taken + one->threads) * interval_ns < cpu_used_ns &&
           stress_now_ns() < late_ns);
}

static uint64_t frame_ns;

static void sample_add(void *data, const tally_sample *sample) {
  (void)data;
  if (current_case->frame && tally_sample_has(sample, current_case->frame))
    frame_ns += sample->value_ns;
}

static void case_try(const seen_case *one) {
  pthread_t threads[SEEN_THREADS_MAX];
  static stress_run run;
  double used, seen;
  unsigned i;

  current_case = one;
  cpu_used_ns = frame_ns = 0;
  stress_run_init(&run, "cpu_seen");
  run.options.sample_rate_hz = one->sample_rate_hz;
  run.sum.on_sample = sample_add;
  stress_run_start(&run);
  pthread_barrier_init(&work_done, NULL, one->threads + 1);
  pthread_barrier_init(&work_seen, NULL, one->threads + 1);
  for (i = 0; i < one->threads; i++)
    pthread_create(&threads[i], NULL, thread_run, NULL);
  pthread_barrier_wait(&work_done);
  ticks_wait(one);
  pthread_barrier_wait(&work_seen);
  for (i = 0; i < one->threads; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  used = (double)cpu_used_ns / 1e9;
  seen = (double)run.sum.value_ns / 1e9;
  printf("%s, %u threads, %u Hz: profile has %.3f of %.3f s (%.3f), %.3f s in "
         "%s; ",
         one->name, one->threads, (unsigned)one->sample_rate_hz, seen, used,
         seen / used, (double)frame_ns / 1e9, one->frame ? one->frame : "-");
  stress_run_print(&run);
  /* The CPU time of each thread after its last tick is lost. This is up to 10
   * ms. */
  STRESS_REQUIRE(seen > used * 0.96 && seen < used * 1.03,
                 "the profile has %.3f s of %.3f s", seen, used);
  STRESS_REQUIRE(!one->frame || frame_ns > 0, "the profile has no time in %s",
                 one->frame);
  stress_run_dispose(&run);
}

static const seen_case cases[] = {
    {"coroutines", coroutines_switch, 1, 100, NULL},
    {"coroutines", coroutines_switch, 1, 300, NULL},
    {"coroutines", coroutines_switch, 1, 1000, NULL},
    {"coroutines", coroutines_switch, 8, 100, NULL},
    {"coroutines", coroutines_switch, 8, 300, NULL},
    {"coroutines", coroutines_switch, 8, 1000, NULL},
    {"loop of sigprocmask", masks_set, 1, 100, NULL},
    {"loop of sigprocmask", masks_set, 1, 1000, NULL},
    {"30 ms blocked", blocked_alternately, 1, 100, "[signal blocked]"},
    {"30 ms blocked", blocked_alternately, 1, 1000, "[signal blocked]"},
    {"always blocked", blocked_always, 2, 100, "[signal blocked]"},
    /* A scan may find the threads before their first tick. In this case no
     * sample has the frame [thread start], so none is required. */
    {"found late", compute, 4, 100, NULL},
};

int main(int argc, char **argv) {
  size_t i;

  stress_begin();
  /* The CPU time of each thread in a case. It is enough for 100 ticks. */
  cpu_ns_each = stress_seconds() * STRESS_NS_PER_S / 4;
  for (i = 0; i < STRESS_COUNT_OF(cases); i++)
    if (argc < 2 || strstr(cases[i].name, argv[1]))
      case_try(&cases[i]);
  return 0;
}
