/* ambush.h for the benchmarks of the languages, loaded through their foreign
 * function interface. It measures signals of the profiler, and of a handler
 * that only counts. The benchmark of the core is core/handler_cost.c. */
#include "ambush.h"

static int ours, counting;
static void *ours_value;
static volatile uint64_t handler_count;
static void (*drain)(void);

static void counting_handler(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info, (void)ucontext;
  handler_count++;
}

/* A function for the work that a handler leaves to the interrupted thread. It
 * is called after each signal, and its time counts. */
__attribute__((visibility("default"))) void
ambush_drain(void (*function)(void)) {
  drain = function;
}

/* `signal_number` is the signal of the running session. The calling thread must
 * be profiled. Returns 0, or an errno. */
__attribute__((visibility("default"))) int ambush_begin(int signal_number) {
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_sigaction = counting_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ours = signal_number;
  /* The signals next to one with a name have a meaning, too. */
  counting = signal_number > SIGRTMIN ? signal_number - 1 : SIGRTMAX;
  if (ambush_prepare() || sigaction(counting, &action, NULL) != 0)
    return 1;
  ours_value = ambush_value(ours);
  return 0;
}

/* Nanoseconds of one signal: the profiler's (1), or that of the counting
 * handler (0). */
__attribute__((visibility("default"))) uint64_t ambush_turn(int of_ours) {
  ambush_work();
  if (of_ours)
    return ambush_send(ours, SI_TIMER, ours_value, drain);
  return ambush_send(counting, SI_QUEUE, NULL, drain);
}
