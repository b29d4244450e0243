/* ambush.h for the benchmarks of the languages, loaded through their foreign
 * function interface: signals of the profiler, or of a handler that only
 * counts. The core's own is core/handler_cost.c. */
#include "ambush.h"

static int ours, counting;
static void *ours_value;
static volatile uint64_t handler_count;
static void (*drain)(void);

static void counting_handler(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info, (void)ucontext;
  handler_count++;
}

/* A function that does what a handler leaves to the thread it interrupted, once
 * that runs on: it is called after each signal, and its time counts. */
__attribute__((visibility("default"))) void
ambush_drain(void (*function)(void)) {
  drain = function;
}

/* `signal_number` is the one the running session was given; the calling thread
 * is profiled. 0, or an errno. */
__attribute__((visibility("default"))) int ambush_begin(int signal_number) {
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_sigaction = counting_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ours = signal_number;
  /* Neighbours of a signal that has a name have a meaning, too. */
  counting = signal_number > SIGRTMIN ? signal_number - 1 : SIGRTMAX;
  if (ambush_prepare() || sigaction(counting, &action, NULL) != 0)
    return 1;
  ours_value = ambush_value(ours);
  return 0;
}

/* Nanoseconds of one signal: the profiler's (1), or the counting one (0). */
__attribute__((visibility("default"))) uint64_t ambush_turn(int of_ours) {
  ambush_work();
  if (of_ours)
    return ambush_send(ours, SI_TIMER, ours_value, drain);
  return ambush_send(counting, SI_QUEUE, NULL, drain);
}
