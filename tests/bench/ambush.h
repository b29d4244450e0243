/* Measures the cost of a sample for the sampled thread. The thread works for 10
 * ms, which evicts the profiler's memory from the caches, and then sends a
 * signal to itself. The duration of the sending call, in which the signal's
 * handler runs, is the cost. */
#ifndef AMBUSH_H
#define AMBUSH_H

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/burn.h"

#define AMBUSH_WORK_NS    UINT64_C(10000000)
#define AMBUSH_WALK_BYTES ((size_t)64 << 20)

static unsigned char *ambush_walked;

/* Allocate the memory for the work. Returns 0, or 1 if there is no memory. */
static inline int ambush_prepare(void) {
  ambush_walked = malloc(AMBUSH_WALK_BYTES);
  if (!ambush_walked)
    return 1;
  memset(ambush_walked, 1, AMBUSH_WALK_BYTES);
  return 0;
}

/* Work for 10 ms at random addresses. The constants of the random numbers are
 * from MMIX (Knuth, The Art of Computer Programming 2, 3.3.4). */
static inline void ambush_work(void) {
  static uint64_t state = 1;
  uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + AMBUSH_WORK_NS;
  size_t i;

  do
    for (i = 0; i < 2048; i++) {
      state =
          state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      ambush_walked[(state >> 32) % AMBUSH_WALK_BYTES]++;
    }
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns);
}

/* Wait for a signal `number` of the profiler's timer, and return the value that
 * the signal carries. By this value, the profiler's handler recognizes signals
 * of the timer and their thread. */
static inline void *ambush_value(int number) {
  const struct timespec now = {0, 0};
  sigset_t wanted, before;
  siginfo_t info;

  sigemptyset(&wanted);
  sigaddset(&wanted, number);
  pthread_sigmask(SIG_BLOCK, &wanted, &before);
  do
    ambush_work();
  while (sigtimedwait(&wanted, &info, &now) != number);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return info.si_value.sival_ptr;
}

/* Returns the nanoseconds from sending a signal until its handler has returned,
 * and `drain` (or NULL) has done the work that the handler left to the
 * interrupted thread. */
static inline uint64_t ambush_send(int number, int code, void *value,
                                   void (*drain)(void)) {
  pid_t pid = getpid(), tid = (pid_t)syscall(SYS_gettid);
  uint64_t start_ns;
  siginfo_t info;

  memset(&info, 0, sizeof info);
  info.si_signo = number;
  info.si_code = code;
  info.si_value.sival_ptr = value;
  start_ns = clock_ns(CLOCK_MONOTONIC);
  syscall(SYS_rt_tgsigqueueinfo, pid, tid, number, &info);
  if (drain)
    drain();
  return clock_ns(CLOCK_MONOTONIC) - start_ns;
}

#endif
