#include "own_thread.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "util/memory/mem.h"
#include "util/text/number.h"

/* How long exit handlers wait for threads passed to
 * sp_own_thread_defer_join(). */
#define OWN_EXIT_NS (100 * SP_NS_PER_MS)
/* How long exit handlers wait after they have closed the gate, for a thread
 * that passed sp_own_thread_gate() just before. */
#define OWN_EXIT_GATE_NS (10 * SP_NS_PER_MS)

/* How long sp_own_threads_only() waits for threads of the library that start or
 * end, and the pause between two checks. */
#define OWN_LIST_NS      SP_NS_PER_S
#define OWN_LIST_STEP_NS 50000

/* Maximum number of threads of the library at the same time: enough for the
 * collector thread, the uploading thread, and earlier ones whose join a stop
 * has deferred. */
#define OWN_THREADS_MAX 16

/* libcurl with TLS uses some 30 KiB of stack; JSON of 2,048 levels in the
 * server uses between 128 and 192 KiB (measured with jansson 2.14). The
 * remainder is for sanitizers and for the static TLS block, which is part of
 * the stack. */
#ifdef __SANITIZE_THREAD__
#define OWN_STACK_BYTES (2048 * 1024)
#else
#define OWN_STACK_BYTES (512 * 1024)
#endif

/* Ids of the library's threads, process-wide. 0: free slot. Negative: free slot
 * of a thread that has ended, which the kernel may still list for a moment. */
static _Atomic int own_tids[OWN_THREADS_MAX];
/* Number of threads ever started, and number of those that have registered
 * their id. They differ for a moment, because the kernel lists a thread before
 * it runs. */
static _Atomic unsigned own_started, own_entered;

/* Threads that are joined at the exit. Process-wide, because the exit is
 * process-wide. */
static struct {
  pthread_mutex_t lock;
  pthread_t threads[OWN_THREADS_MAX];
  size_t count;
} own_deferred = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic bool own_exit_begun;
static _Atomic bool own_gate_closed;

typedef enum tasks_result {
  TASKS_OWN,
  TASKS_OTHERS,
  TASKS_CHANGED
} tasks_result;

typedef struct own_start {
  void *(*run)(void *argument);
  void *argument;
  char name[16];
} own_start;

static bool own_has(int tid) {
  size_t i;

  for (i = 0; i < OWN_THREADS_MAX; i++)
    if (atomic_load_explicit(&own_tids[i], memory_order_relaxed) == tid)
      return true;
  return false;
}

/* Register the calling thread. If there is no free slot, the thread counts as
 * one of the application's. */
static void own_enter(int tid) {
  const unsigned first = atomic_load(&own_entered);
  int old;
  size_t i;

  if (own_has(tid))
    return;
  /* Reuse slots in rotation, so that the id of the thread that ended last stays
   * known longest. */
  for (i = 0; i < OWN_THREADS_MAX; i++) {
    _Atomic int *place = &own_tids[(first + i) % OWN_THREADS_MAX];

    old = atomic_load(place);
    if (old <= 0 && atomic_compare_exchange_strong(place, &old, tid))
      return;
  }
}

static void own_leave(int tid) {
  int own;
  size_t i;

  for (i = 0; i < OWN_THREADS_MAX; i++) {
    own = tid;
    if (atomic_compare_exchange_strong(&own_tids[i], &own, -tid))
      return;
  }
}

static void *own_run(void *argument) {
  own_start start = *(own_start *)argument;
  const int tid = (int)syscall(SYS_gettid);
  void *result;

  own_enter(tid);
  atomic_fetch_add(&own_entered, 1);
  sp_mem_free(&sp_mem_default, argument);
  prctl(PR_SET_NAME, start.name);
  result = start.run(start.argument);
  /* Thread-specific destructors, which may belong to another library, run after
   * this function. They must not run once the exit no longer waits for this
   * thread. */
  sp_own_thread_gate();
  own_leave(tid);
  return result;
}

int sp_own_thread_start(pthread_t *out, const char *name, sp_own_stack stack,
                        void *(*run)(void *argument), void *argument) {
  own_start *start = sp_mem_new(&sp_mem_default, sizeof *start);
  pthread_attr_t attributes;
  sigset_t all, before;
  size_t i;
  int error;

  if (!start)
    return ENOMEM;
  start->run = run;
  start->argument = argument;
  for (i = 0; i + 1 < sizeof start->name && name[i]; i++)
    start->name[i] = name[i];
  start->name[i] = '\0';
  pthread_attr_init(&attributes);
  if (stack == SP_OWN_STACK_SMALL)
    pthread_attr_setstacksize(&attributes, OWN_STACK_BYTES);
  /* A thread inherits the signal mask. Blocking all signals here keeps the
   * application's signals off the new thread even before its first
   * instruction. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  atomic_fetch_add(&own_started, 1);
  error = pthread_create(out, &attributes, own_run, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error) {
    atomic_fetch_sub(&own_started, 1);
    sp_mem_free(&sp_mem_default, start);
  }
  return error;
}

/* Join the deferred threads that have ended. Returns the number of the others.
 * The caller holds `own_deferred.lock`. */
static size_t deferred_join(void) {
  size_t i = own_deferred.count, others = 0;

  while (i-- > 0)
    if (pthread_equal(own_deferred.threads[i], pthread_self()))
      continue;
    else if (pthread_tryjoin_np(own_deferred.threads[i], NULL) == 0)
      own_deferred.threads[i] = own_deferred.threads[--own_deferred.count];
    else
      others++;
  return others;
}

bool sp_own_threads_join_deferred(uint64_t wait_ns) {
  const struct timespec step = {.tv_nsec = (long)SP_NS_PER_MS};
  const uint64_t until_ns = sp_monotonic_ns() + wait_ns;
  size_t others;

  for (;;) {
    pthread_mutex_lock(&own_deferred.lock);
    others = deferred_join();
    pthread_mutex_unlock(&own_deferred.lock);
    if (others == 0 || sp_monotonic_ns() >= until_ns)
      return others == 0;
    nanosleep(&step, NULL);
  }
}

void sp_own_thread_defer_join(pthread_t thread) {
  pthread_mutex_lock(&own_deferred.lock);
  deferred_join();
  if (own_deferred.count < OWN_THREADS_MAX)
    own_deferred.threads[own_deferred.count++] = thread;
  else
    pthread_detach(thread);
  pthread_mutex_unlock(&own_deferred.lock);
}

void sp_exit_begin(void) {
  atomic_store(&own_exit_begun, true);
}

bool sp_exit_begun(void) {
  return atomic_load(&own_exit_begun);
}

void sp_own_threads_exit(void) {
  sp_own_threads_join_deferred(OWN_EXIT_NS);
  atomic_store(&own_gate_closed, true);
  sp_own_threads_join_deferred(OWN_EXIT_GATE_NS);
}

/* pause() does not return, because every signal is blocked. */
void sp_own_thread_gate(void) {
  while (atomic_load(&own_gate_closed))
    pause();
}

bool sp_own_thread_is(int tid) {
  return own_has(tid);
}

size_t sp_own_thread_count(void) {
  size_t count = 0, i;

  for (i = 0; i < OWN_THREADS_MAX; i++)
    count += atomic_load_explicit(&own_tids[i], memory_order_relaxed) > 0;
  return count;
}

/* Compare the kernel's list of threads with the library's. A thread of the
 * library that has started but not registered its id looks like an application
 * thread. The kernel may skip a thread when the one listed before it ends.
 * Therefore the list is compared with the link count of its directory, read
 * before: each thread has a link (see thread_scan.c). */
static tasks_result tasks_check(DIR *tasks) {
  const unsigned entered = atomic_load(&own_entered);
  const unsigned started = atomic_load(&own_started);
  const int self = (int)syscall(SYS_gettid);
  const struct dirent *task;
  unsigned listed = 0, others = 0;
  struct stat before;
  uint64_t tid;

  if (fstat(dirfd(tasks), &before) != 0)
    return TASKS_OTHERS;
  while ((task = readdir(tasks)))
    if (sp_number_is(task->d_name, INT_MAX, &tid)) {
      listed++;
      others += (int)tid != self && !own_has((int)tid) && !own_has(-(int)tid);
    }
  if (entered != started || atomic_load(&own_started) != started)
    return TASKS_CHANGED;
  if (others > 0)
    return TASKS_OTHERS;
  return before.st_nlink == 2 + listed ? TASKS_OWN : TASKS_CHANGED;
}

bool sp_own_threads_only(void) {
  const struct timespec step = {.tv_nsec = OWN_LIST_STEP_NS};
  const uint64_t until_ns = sp_monotonic_ns() + OWN_LIST_NS;
  DIR *tasks = opendir("/proc/self/task");
  tasks_result answer;

  if (!tasks)
    return false;
  while ((answer = tasks_check(tasks)) == TASKS_CHANGED &&
         sp_monotonic_ns() < until_ns) {
    nanosleep(&step, NULL);
    rewinddir(tasks);
  }
  closedir(tasks);
  return answer == TASKS_OWN;
}

void sp_own_thread_after_fork(void) {
  size_t i;

  for (i = 0; i < OWN_THREADS_MAX; i++)
    atomic_store(&own_tids[i], 0);
  pthread_mutex_init(&own_deferred.lock, NULL);
  own_deferred.count = 0;
  atomic_store(&own_exit_begun, false);
  atomic_store(&own_gate_closed, false);
  atomic_store(&own_entered, atomic_load(&own_started));
}
