/* The measurement of ambush.h as a library that benchmarks in Ruby and Python
 * load through their foreign function interface. It measures signals of the
 * profiler, and signals whose handler only counts. The core has its own
 * program, core/handler_cost.c. */
#include "ambush.h"

static int ours, counting;
static void *ours_value;
static volatile uint64_t handler_count;
static void (*drain)(void);

static void counting_handler(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info, (void)ucontext;
  handler_count++;
}

/* Set a function that does the work that a handler leaves to the interrupted
 * thread. It is called after each signal, and its time is included. */
__attribute__((visibility("default"))) void
ambush_drain(void (*function)(void)) {
  drain = function;
}

/* Prepare the measurement. `signal_number` is the signal of the running
 * session. The calling thread must be profiled. Returns 0, or 1 on failure. */
__attribute__((visibility("default"))) int ambush_begin(int signal_number) {
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_sigaction = counting_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ours = signal_number;
  /* The counting handler gets the real-time signal below the profiler's, or
   * SIGRTMAX if there is none, because other signals have a meaning. */
  counting = signal_number > SIGRTMIN ? signal_number - 1 : SIGRTMAX;
  if (ambush_prepare() || sigaction(counting, &action, NULL) != 0)
    return 1;
  ours_value = ambush_value(ours);
  return 0;
}

/* Returns the nanoseconds of one signal: the profiler's signal if `of_ours` is
 * 1, or that of the counting handler if it is 0. */
__attribute__((visibility("default"))) uint64_t ambush_turn(int of_ours) {
  ambush_work();
  if (of_ours)
    return ambush_send(ours, SI_TIMER, ours_value, drain);
  return ambush_send(counting, SI_QUEUE, NULL, drain);
}
