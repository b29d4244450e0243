/* Stress programs in Ruby and Python load this library. It sends the profiler's
 * signal to running threads 20,000 times a second, with the same data as from
 * the threads' timers, so that the profiler walks their stacks. A CPU timer
 * only expires at the kernel's ticks, 250 times a second. A wall-clock timer
 * expires on time, but would also interrupt waiting threads, whose same stack
 * would be walked again and again. So a thread of this library finds the
 * threads that have just used CPU time, and arms a wall-clock timer for each of
 * them for ten milliseconds. /proc/self/timers shows the profiled threads and
 * the values of their signals. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Maximum number of threads that receive signals. */
#define WALKS_THREADS_MAX 64

/* Interval in which no timers are armed. A thread that uses CPU time for a
 * quarter of the interval counts as running. */
#define WALKS_LOOK_NS  400000
#define WALKS_ARMED_NS 10000000
#define WALKS_EVERY_NS 50000

#define WALKS_NO_TIMER (-1)

typedef struct walks_thread {
  int tid;
  int number;     /* number of the profiler's signal */
  uint64_t value; /* value of the profiler's signal */
  uint64_t cpu_ns;
  int timer; /* timer of this library, or WALKS_NO_TIMER */
} walks_thread;

/* Used only by the thread `walks.thread`, and by walks_begin() before this
 * thread starts. */
static struct {
  walks_thread threads[WALKS_THREADS_MAX];
  size_t count;
  pthread_t thread;
} walks;
static _Atomic bool walks_running;

static uint64_t thread_cpu_ns(int tid) {
  /* The clock id of a thread, as clock_getcpuclockid(3) computes it for a
   * process. */
  clockid_t id = (clockid_t)(~(unsigned)tid << 3 | 6);
  struct timespec now;

  if (clock_gettime(id, &now) != 0)
    return 0;
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void timer_arm(walks_thread *thread) {
  struct itimerspec when = {.it_interval.tv_nsec = WALKS_EVERY_NS,
                            .it_value.tv_nsec = WALKS_EVERY_NS};
  struct sigevent event;

  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = thread->number;
  event.sigev_value.sival_ptr = (void *)(uintptr_t)thread->value;
  event.sigev_notify_thread_id = thread->tid;
  /* This fails if the thread has ended. */
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &thread->timer) != 0)
    thread->timer = WALKS_NO_TIMER;
  else
    syscall(SYS_timer_settime, thread->timer, 0, &when, NULL);
}

/* Read the lines of one timer (man 5 proc_pid_timers), such as
 *
 *     ID: 0
 *     signal: 63/0000558a00000001
 *     notify: signal/tid.4711
 *     ClockID: -37690
 *
 * Returns the rest of `text`, or NULL if there are no more timers. */
static const char *timer_parse(const char *text, walks_thread *out) {
  static const char mark[] = "signal/tid.";
  const char *line = strstr(text, "signal: ");
  char *end;

  if (!line)
    return NULL;
  out->number = (int)strtol(line + strlen("signal: "), &end, 10);
  out->value = strtoull(end + 1, &end, 16);
  line = strstr(end, "notify: ");
  if (!line)
    return NULL;
  line += strlen("notify: ");
  out->tid = strncmp(line, mark, strlen(mark)) == 0
                 ? (int)strtol(line + strlen(mark), NULL, 10)
                 : 0;
  return line;
}

/* Find the profiled threads. Called while this library has no timers. Returns 0
 * or an errno. */
static int threads_find(void) {
  static char text[WALKS_THREADS_MAX * 160];
  int file = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
  int self = (int)syscall(SYS_gettid);
  const char *at = text;
  size_t have = 0;
  ssize_t bytes;

  if (file < 0)
    return errno;
  while ((bytes = read(file, text + have, sizeof text - 1 - have)) > 0)
    have += (size_t)bytes;
  close(file);
  text[have] = '\0';
  walks.count = 0;
  while (walks.count < WALKS_THREADS_MAX) {
    walks_thread *thread = &walks.threads[walks.count];

    at = timer_parse(at, thread);
    if (!at)
      break;
    thread->timer = WALKS_NO_TIMER;
    thread->cpu_ns = thread_cpu_ns(thread->tid);
    /* A timer with a real-time signal is the profiler's. The program's own
     * timers use other signals. */
    if (thread->tid != 0 && thread->tid != self && thread->number >= SIGRTMIN)
      walks.count++;
  }
  return 0;
}

static void pause_ns(long ns) {
  const struct timespec time = {.tv_nsec = ns};

  nanosleep(&time, NULL);
}

static void *walks_run(void *unused) {
  size_t i;

  (void)unused;
  while (atomic_load(&walks_running)) {
    threads_find();
    pause_ns(WALKS_LOOK_NS);
    for (i = 0; i < walks.count; i++) {
      walks_thread *thread = &walks.threads[i];

      if (thread_cpu_ns(thread->tid) > thread->cpu_ns + WALKS_LOOK_NS / 4)
        timer_arm(thread);
    }
    pause_ns(WALKS_ARMED_NS);
    for (i = 0; i < walks.count; i++)
      if (walks.threads[i].timer != WALKS_NO_TIMER)
        syscall(SYS_timer_delete, walks.threads[i].timer);
  }
  return NULL;
}

int walks_begin(void);
void walks_end(void);

/* Begin to send signals. A forked child calls this again, because it does not
 * have the threads of its parent. Returns 0 or an errno, which is ENOENT if the
 * kernel was built without /proc/self/timers. */
int walks_begin(void) {
  sigset_t all, before;
  int error = threads_find();

  if (error)
    return error;
  atomic_store(&walks_running, true);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&walks.thread, NULL, walks_run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

void walks_end(void) {
  atomic_store(&walks_running, false);
  pthread_join(walks.thread, NULL);
}
