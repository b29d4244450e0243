/* What a sample costs the thread it is taken of, for the benchmarks of the
 * languages (loaded through their foreign function interface; the core has its
 * own in core/handler_cost.c): after 10 ms of other work, which leaves nothing
 * of ours in the caches, the calling thread sends itself the profiler's signal
 * as the kernel's timer does, or one whose handler only counts, and the time of
 * the sending call, in which the handler runs, is returned. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AMBUSH_WORK_NS    UINT64_C(10000000)
#define AMBUSH_WALK_BYTES ((size_t)64 << 20)

static unsigned char *walk_memory;
static int ours, counting;
static void *ours_value;
static volatile uint64_t handler_count;
static void (*drain)(void);

static uint64_t clock_ns(clockid_t id) {
  struct timespec now;

  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work_do(void) {
  static uint64_t state = 1;
  uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + AMBUSH_WORK_NS;
  size_t i;

  do
    for (i = 0; i < 2048; i++) {
      state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
      walk_memory[(state >> 20) % AMBUSH_WALK_BYTES]++;
    }
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns);
}

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
  const struct timespec now = {0, 0};
  struct sigaction action;
  sigset_t mask, before;
  siginfo_t info;

  memset(&action, 0, sizeof action);
  action.sa_sigaction = counting_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ours = signal_number;
  /* Neighbours of a signal that has a name have a meaning, too. */
  counting = signal_number > SIGRTMIN ? signal_number - 1 : SIGRTMAX;
  walk_memory = malloc(AMBUSH_WALK_BYTES);
  if (!walk_memory || sigaction(counting, &action, NULL) != 0)
    return 1;
  memset(walk_memory, 1, AMBUSH_WALK_BYTES);
  /* What the timer's signals carry, read off one of them, tells the handler
   * that a signal is the timer's, and which thread's. */
  sigemptyset(&mask);
  sigaddset(&mask, ours);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  do
    work_do();
  while (sigtimedwait(&mask, &info, &now) != ours);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  ours_value = info.si_value.sival_ptr;
  return 0;
}

/* Nanoseconds of one signal: the profiler's (1), or the counting one (0). */
__attribute__((visibility("default"))) uint64_t ambush_turn(int of_ours) {
  int number = of_ours ? ours : counting;
  uint64_t start_ns, end_ns;
  siginfo_t info;

  memset(&info, 0, sizeof info);
  info.si_signo = number;
  info.si_code = of_ours ? SI_TIMER : SI_QUEUE;
  info.si_value.sival_ptr = of_ours ? ours_value : NULL;
  work_do();
  start_ns = clock_ns(CLOCK_MONOTONIC);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number,
          &info);
  if (drain)
    drain();
  end_ns = clock_ns(CLOCK_MONOTONIC);
  return end_ns - start_ns;
}
