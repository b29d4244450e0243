#include "thread_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/handler/stack_requests.h"
#include "thread_arming.h"
#include "thread_record.h"
#include "thread_status.h"
#include "thread_table.h"
#include "util/system/counters.h"
#include "util/system/own_thread.h"
#include "util/text/number.h"

/* How many status files one scan reads (some 15 us each), and how many CPU
 * clocks it asks (0.4 us each). */
#define SCAN_STATUS_MAX 24
#define SCAN_CLOCKS_MAX 64

/* Ticks before it is logged that a thread blocks our signal. */
#define SCAN_BLOCKED_TICKS 3

/* Every so many scans the directory is read in any case: a number of ours that
 * was left behind by a thread that is gone would be counted for one of the
 * program's. */
#define SCAN_READ_EVERY 8

/* In one of so many scans a number that is there is checked to be the same
 * thread's: the kernel gives one out again after all others. */
#define SCAN_SAME_EVERY 8

/* After a look at the process's map, which has 8,000 lines where there are
 * 4,000 threads, so many times its CPU time pass until the next. Until its
 * stack is known a thread's samples cost it a system call more. */
#define SCAN_STACKS_REST 1000

/* man 2 getdents. */
typedef struct scan_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  unsigned char type;
  char name[];
} scan_entry;

/* A thread that was found to block our signal. */
typedef struct scan_blocked {
  char name[32];
  int tid;
  int signal_number;
} scan_blocked;

typedef struct scan_counts {
  size_t threads;
  uint64_t profiled;
  uint64_t unprofiled;
  uint64_t blocked;
  unsigned status_left;
  unsigned clocks_left;
  bool muted;                /* the signal's action would end the process */
  sp_stack_requests *stacks; /* NULL: not in this scan */
  unsigned found_count;
  scan_blocked found[SCAN_STATUS_MAX];
} scan_counts;

/* Gone for certain: readdir(3) of a task directory may miss a thread while
 * others end. Or one of ours, seen before it could say so. */
static bool thread_gone(const sp_thread *thread) {
  return sp_own_thread_is(thread->tid) ||
         (syscall(SYS_tgkill, getpid(), thread->tid, 0) != 0 && errno == ESRCH);
}

/* Is it still the thread that the timer was made for? */
static bool thread_same(const sp_thread *thread) {
  if (thread->timer == SP_TIMER_NONE)
    return false;
  if (sp_threads.base.wall ||
      (thread->index + sp_threads.pass) % SCAN_SAME_EVERY != 0)
    return true;
  return sp_timer_check(thread->timer) != SP_TIMER_DEAD;
}

static void thread_enrol_or_mark(int tid) {
  sp_thread *thread = sp_thread_find(tid);

  if (!thread || !thread_same(thread)) {
    if (thread && thread->timer != SP_TIMER_NONE)
      sp_thread_remove(thread);
    if (!sp_threads.registered_only || sp_thread_find(tid))
      sp_thread_enrol_locked(tid, NULL);
    thread = sp_thread_find(tid);
  }
  if (thread)
    thread->pass = sp_threads.pass;
}

static void entries_see(const char *entries, size_t bytes,
                        scan_counts *counts) {
  size_t at = 0;

  pthread_mutex_lock(&sp_threads.lock);
  while (at < bytes && sp_threads.sampling) {
    const scan_entry *entry = (const scan_entry *)(entries + at);
    uint64_t tid;

    if (sp_number_is(entry->name, INT_MAX, &tid) &&
        !sp_own_thread_is((int)tid)) {
      thread_enrol_or_mark((int)tid);
      counts->threads++;
    }
    at += entry->size;
  }
  pthread_mutex_unlock(&sp_threads.lock);
}

static bool tasks_read(scan_counts *counts) {
  _Alignas(8) static char entries[16384]; /* only the collector is here */
  int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  long bytes;

  counts->threads = 0;
  if (directory < 0)
    return false;
  while ((bytes = syscall(SYS_getdents64, directory, entries, sizeof entries)) >
         0)
    entries_see(entries, (size_t)bytes, counts);
  close(directory);
  return bytes == 0;
}

/* As many threads as have a timer, are excluded or ours? Each has a link in the
 * directory (Linux 6.1, proc_task_getattr()). */
static bool tasks_as_many(void) {
  struct stat directory;
  size_t known;
  bool due;

  pthread_mutex_lock(&sp_threads.lock);
  known = sp_threads.timer_count + sp_threads.excluded_count;
  due = sp_threads.base.wall || sp_threads.pass % SCAN_READ_EVERY == 0;
  pthread_mutex_unlock(&sp_threads.lock);
  return !due && stat("/proc/self/task", &directory) == 0 &&
         directory.st_nlink == 2 + known + sp_own_thread_count();
}

/* Then, if none of the timers' threads is gone, no other one is there, and the
 * directory need not be read. */
static bool tasks_known(scan_counts *counts) {
  uint32_t i = 1, end;
  bool known;

  if (!tasks_as_many())
    return false;
  do {
    pthread_mutex_lock(&sp_threads.lock);
    known = sp_threads.sampling;
    end = i + SP_THREAD_CHUNK;
    for (; known && i < end && i < sp_threads.record_count; i++) {
      sp_thread *thread = sp_thread_at(i);

      if (thread->tid == 0)
        continue;
      known = thread->excluded
                  ? !thread_gone(thread)
                  : thread->timer != SP_TIMER_NONE &&
                        sp_timer_check(thread->timer) != SP_TIMER_DEAD &&
                        !sp_own_thread_is(thread->tid);
      if (known)
        thread->pass = sp_threads.pass;
      counts->threads++;
    }
    end = sp_threads.record_count;
    pthread_mutex_unlock(&sp_threads.lock);
  } while (known && i < end);
  return known;
}

/* Is it the thread's turn to be looked at, where a scan has `left` looks?
 * `next` goes around all records, so that none waits for ever. */
static bool turn_take(const sp_thread *thread, uint32_t *next, unsigned *left) {
  if (*left == 0 || thread->index < *next)
    return false;
  *next = thread->index + 1;
  --*left;
  return true;
}

/* Did the thread use CPU time without being sampled, since a look that found a
 * sample or said so? */
static bool thread_silent(sp_thread *thread) {
  const uint64_t samples = atomic_load(&thread->samples);
  const uint64_t cpu_ns = sp_timer_thread_cpu_ns(thread->tid);
  const bool sampled = samples != thread->checked_samples;
  const bool silent = !sampled && cpu_ns > thread->checked_cpu_ns +
                                               3 * sp_threads.base.interval_ns;

  if (sampled || silent) {
    thread->checked_samples = samples;
    thread->checked_cpu_ns = cpu_ns;
  }
  return silent;
}

static void blocked_find(scan_counts *counts, int tid, const char *name) {
  scan_blocked *found = &counts->found[counts->found_count];

  /* libcurl looks names up on threads of its own, which have the name and the
   * mask of ours that made them. */
  if (strncmp(name, "spanprof-", 9) == 0)
    return;
  counts->found_count++;
  memcpy(found->name, name, sizeof found->name);
  found->tid = tid;
  found->signal_number = sp_threads.signal_number;
}

/* With no lock held: who logs may wait for another thread, which may begin, end
 * or fork. */
static void blocked_tell(const scan_counts *counts, sp_log *log) {
  unsigned i;

  for (i = 0; i < counts->found_count; i++)
    sp_log_warn(log, SP_LOG_THREADS,
                "thread \"%s\" (%d) blocks signal %d: while it does, its CPU "
                "time is [signal blocked]",
                counts->found[i].name, counts->found[i].tid,
                counts->found[i].signal_number);
}

/* Only of a thread that runs: a signal would end the wait of another one. */
static void late_fire(const sp_thread *thread) {
  const sp_timer_base *base = &sp_threads.base;
  const uint64_t due_ns = sp_thread_due_ns(thread, base->interval_ns);

  if (thread->timer != SP_TIMER_NONE && !base->wall &&
      sp_timer_thread_cpu_ns(thread->tid) >= due_ns + SP_THREAD_LATE_NS)
    sp_timer_fire(thread->timer, base, due_ns);
}

/* Log only threads that use CPU time for a few samples. */
static void blocked_book(sp_thread *thread, const sp_thread_status *status,
                         scan_counts *counts) {
  sp_thread_book_blocked(thread, status->runs ? SP_THREAD_LATE_NS : 0);
  if (thread->blocked_told ||
      atomic_load(&thread->ticks_ahead) < SCAN_BLOCKED_TICKS)
    return;
  thread->blocked_told = true;
  blocked_find(counts, thread->tid, status->name);
}

static void mask_look(sp_thread *thread, scan_counts *counts) {
  const int number = sp_threads.signal_number;
  const bool was = atomic_load(&thread->blocked);
  sp_thread_status status;
  bool blocks;

  thread->mask_read = true;
  if (!sp_thread_status_read(thread->tid, &status))
    return;
  blocks = number != 0 && status.blocked >> (number - 1) & 1;
  /* A thread that is being made has every signal blocked for a moment (glibc
   * 2.32 and later, pthread_create()); only one that still has is meant. */
  if (blocks && !was && !thread->mask_doubted) {
    thread->mask_doubted = true;
    thread->mask_read = false;
    return;
  }
  thread->mask_doubted = false;
  atomic_store(&thread->blocked, blocks);
  if (blocks)
    blocked_book(thread, &status, counts);
  else if (status.runs)
    late_fire(thread);
}

/* Once; and again when the thread was deeper than all that is known. */
static void stack_want(const sp_thread *thread, sp_stack_requests *stacks) {
  const uint64_t sp = atomic_load(&thread->seen_sp);
  const uint64_t low = atomic_load(&thread->stack_low);
  const sp_stack_request want = {.sp = sp,
                                 .tp = atomic_load(&thread->seen_tp),
                                 .thread = thread->index,
                                 .tid = atomic_load(&thread->tid)};

  if (!thread->stack_final && sp != 0 && (low == 0 || sp < low))
    sp_stack_requests_add(stacks, &want);
}

static void thread_look(sp_thread *thread, scan_counts *counts) {
  if (thread->excluded)
    return;
  sp_thread_book_rejected(thread, false);
  if (thread->mask_read && !atomic_load(&thread->blocked) &&
      turn_take(thread, &sp_threads.next_clock, &counts->clocks_left) &&
      thread_silent(thread))
    thread->mask_read = false;
  if ((!thread->mask_read || atomic_load(&thread->blocked)) &&
      thread->enrolled_pass != sp_threads.pass &&
      turn_take(thread, &sp_threads.next_mask, &counts->status_left))
    mask_look(thread, counts);
  if (thread->timer != SP_TIMER_NONE) {
    counts->profiled++;
    counts->blocked += atomic_load(&thread->blocked);
  } else if (!sp_threads.paused && !counts->muted) {
    counts->unprofiled++;
  }
  if (counts->stacks)
    stack_want(thread, counts->stacks);
}

/* False: a stop came in between, and took the timers. */
static bool records_look(scan_counts *counts) {
  uint32_t i = 1, end;
  bool sampling;

  do {
    pthread_mutex_lock(&sp_threads.lock);
    sampling = sp_threads.sampling;
    sp_threads_link();
    end = sampling ? i + SP_THREAD_CHUNK : 0;
    for (; i < end && i < sp_threads.record_count; i++) {
      sp_thread *thread = sp_thread_at(i);

      if (thread->tid == 0)
        continue;
      if ((thread->pass != sp_threads.pass || thread->timer == SP_TIMER_NONE) &&
          thread_gone(thread))
        sp_thread_remove(thread);
      else
        thread_look(thread, counts);
    }
    end = sp_threads.record_count;
    if (i >= end && counts->clocks_left > 0)
      sp_threads.next_clock = 0;
    if (i >= end && counts->status_left > 0)
      sp_threads.next_mask = 0;
    pthread_mutex_unlock(&sp_threads.lock);
  } while (sampling && i < end);
  return sampling;
}

/* The record may be another thread's by now, or its thread has registered and
 * knows better. */
static void stack_answer(const sp_stack_request *want) {
  sp_thread *thread = sp_thread_at(want->thread);

  if (atomic_load(&thread->tid) != want->tid || thread->stack_final)
    return;
  thread->stack_final = want->low == 0;
  if (thread->stack_final)
    return;
  /* High first: the handler takes low for "known". */
  atomic_store(&thread->stack_high, want->high);
  atomic_store_explicit(&thread->stack_low, want->low, memory_order_release);
}

static void stacks_read(sp_stack_requests *stacks) {
  uint64_t cpu_ns = sp_thread_cpu_ns();
  size_t i;

  sp_stack_requests_resolve(stacks);
  pthread_mutex_lock(&sp_threads.lock);
  for (i = 0; i < stacks->count; i++)
    stack_answer(&stacks->wants[i]);
  pthread_mutex_unlock(&sp_threads.lock);
  sp_threads.stacks_due_ns =
      sp_monotonic_ns() + SCAN_STACKS_REST * (sp_thread_cpu_ns() - cpu_ns);
}

size_t sp_threads_scan(sp_log *log) {
  scan_counts counts = {.status_left = SCAN_STATUS_MAX,
                        .clocks_left = SCAN_CLOCKS_MAX};
  static sp_stack_requests stacks; /* only the collector is here */
  bool sampling;

  sp_stack_requests_clear(&stacks);
  if (sp_monotonic_ns() >= sp_threads.stacks_due_ns)
    counts.stacks = &stacks;
  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.pass++;
  counts.muted = !sp_threads_signal_update();
  pthread_mutex_unlock(&sp_threads.lock);
  if (!tasks_known(&counts) && !tasks_read(&counts)) {
    if (log)
      sp_log_warn(log, SP_LOG_THREADS,
                  "/proc/self/task cannot be read; only threads that register "
                  "are profiled");
    return 0;
  }
  sampling = records_look(&counts);
  if (log)
    blocked_tell(&counts, log);
  if (!sampling)
    return 0;
  if (stacks.count > 0)
    stacks_read(&stacks);
  atomic_store(&sp_counts.threads_profiled, counts.profiled - counts.blocked);
  atomic_store(&sp_counts.threads_unprofiled, counts.unprofiled);
  atomic_store(&sp_counts.threads_blocked, counts.blocked);
  if (counts.unprofiled > 0 && log)
    sp_log_warn(log, SP_LOG_THREADS,
                "%llu threads are not profiled: no timer could be had (half of "
                "RLIMIT_SIGPENDING is used at most)",
                (unsigned long long)counts.unprofiled);
  return counts.threads;
}
