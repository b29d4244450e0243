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

/* Maximum number of status files (some 15 us each) and of CPU clocks (0.4 us
 * each) that one scan reads. */
#define SCAN_STATUS_MAX 24
#define SCAN_CLOCKS_MAX 64

/* Number of undelivered ticks after which the log reports that a thread blocks
 * spanprof's signal. */
#define SCAN_BLOCKED_TICKS 3

/* The task directory is read at least once in this number of scans. Otherwise
 * the id of a thread of the library that ended without removing its id would
 * count as a known thread, in place of one of the program's threads. */
#define SCAN_READ_EVERY 8

/* Once in this number of scans, a known thread id is checked to belong to the
 * same thread, because the kernel reuses ids after it has used all others. */
#define SCAN_SAME_EVERY 8

/* The pause after reading the process's memory map, as a multiple of the CPU
 * time that reading it took. The map has 8,000 lines if there are 4,000
 * threads. A longer pause saves CPU time, but as long as a thread's stack is
 * unknown, each of its samples costs one more system call. */
#define SCAN_STACKS_BACKOFF 1000

/* An entry of a directory: linux_dirent64 of getdents64(2). */
typedef struct scan_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  unsigned char type;
  char name[];
} scan_entry;

/* A thread that blocks spanprof's signal, for the log. */
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
  /* Timers must not send a signal now: see sp_threads_signal_update(). */
  bool muted;
  sp_stack_requests *stacks; /* NULL: this scan looks up no stacks */
  unsigned found_count;
  scan_blocked found[SCAN_STATUS_MAX];
} scan_counts;

/* Has the thread certainly ended? A thread that is missing in a listing of the
 * task directory may still run, because a listing may miss a thread while
 * others end. Returns true also for a thread of the library that was enrolled
 * before it registered itself as one. */
static bool thread_ended(const sp_thread *thread) {
  return sp_own_thread_is(thread->tid) ||
         (syscall(SYS_tgkill, getpid(), thread->tid, 0) != 0 && errno == ESRCH);
}

/* Does the record's timer still belong to the thread with this id? */
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

static void entries_visit(const char *entries, size_t bytes,
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
  /* Static, because only the collector calls this function. */
  _Alignas(8) static char entries[16384];
  int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  long bytes;

  counts->threads = 0;
  if (directory < 0)
    return false;
  while ((bytes = syscall(SYS_getdents64, directory, entries, sizeof entries)) >
         0)
    entries_visit(entries, (size_t)bytes, counts);
  close(directory);
  return bytes == 0;
}

/* Is the number of threads equal to the number of those that have a timer, are
 * excluded or belong to the library? The task directory has one link for each
 * thread (Linux 6.1, proc_task_getattr()). */
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

/* Are all threads known? If the number of threads is as expected and no known
 * thread has ended, there is no unknown thread, and the directory need not be
 * read. */
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
                  ? !thread_ended(thread)
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

/* May this scan check the thread? A scan makes at most `left` more checks.
 * `next` rotates over all records, so that each record is checked
 * eventually. */
static bool check_claim(const sp_thread *thread, uint32_t *next,
                        unsigned *left) {
  if (*left == 0 || thread->index < *next)
    return false;
  *next = thread->index + 1;
  --*left;
  return true;
}

/* Has the thread used CPU time without a sample since the last check that found
 * a sample or returned true? */
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

static void blocked_add(scan_counts *counts, int tid, const char *name) {
  scan_blocked *found = &counts->found[counts->found_count];

  /* The library's threads are not reported. libcurl's threads for name lookups
   * inherit the name and the signal mask of the library's thread that created
   * them. */
  if (strncmp(name, "spanprof-", 9) == 0)
    return;
  counts->found_count++;
  memcpy(found->name, name, sizeof found->name);
  found->tid = tid;
  found->signal_number = sp_threads.signal_number;
}

/* Report the threads that block the signal. Called without a lock, because the
 * log callback may wait for another thread that starts, ends or forks. */
static void blocked_log(const scan_counts *counts, sp_log *log) {
  unsigned i;

  for (i = 0; i < counts->found_count; i++)
    sp_log_warn(log, SP_LOG_THREADS,
                "thread \"%s\" (%d) blocks signal %d; as long as it does, its "
                "CPU time appears as [signal blocked]",
                counts->found[i].name, counts->found[i].tid,
                counts->found[i].signal_number);
}

/* If the thread's tick is late, make its timer send the signal. Called only for
 * a running thread, because a signal would interrupt a waiting thread. */
static void late_fire(const sp_thread *thread) {
  const sp_timer_base *base = &sp_threads.base;
  const uint64_t due_ns = sp_thread_due_ns(thread, base->interval_ns);

  if (thread->timer != SP_TIMER_NONE && !base->wall &&
      sp_timer_thread_cpu_ns(thread->tid) >= due_ns + SP_THREAD_LATE_NS)
    sp_timer_fire(thread->timer, base, due_ns);
}

/* Record the ticks of a thread that blocks spanprof's signal. After
 * SCAN_BLOCKED_TICKS ticks the thread is reported in the log. */
static void blocked_book(sp_thread *thread, const sp_thread_status *status,
                         scan_counts *counts) {
  sp_thread_book_blocked(thread, status->runs ? SP_THREAD_LATE_NS : 0);
  if (thread->blocked_logged ||
      atomic_load(&thread->ticks_ahead) < SCAN_BLOCKED_TICKS)
    return;
  thread->blocked_logged = true;
  blocked_add(counts, thread->tid, status->name);
}

static void mask_check(sp_thread *thread, scan_counts *counts) {
  const int number = sp_threads.signal_number;
  const bool was_blocked = atomic_load(&thread->blocked);
  sp_thread_status status;
  bool blocks;

  thread->mask_read = true;
  if (!sp_thread_status_read(thread->tid, &status))
    return;
  blocks = number != 0 && status.blocked >> (number - 1) & 1;
  /* A thread that is being created blocks every signal for a moment (glibc 2.32
   * and later, pthread_create()). So the mask counts only if a second reading
   * confirms it. */
  if (blocks && !was_blocked && !thread->mask_unconfirmed) {
    thread->mask_unconfirmed = true;
    thread->mask_read = false;
    return;
  }
  thread->mask_unconfirmed = false;
  atomic_store(&thread->blocked, blocks);
  if (blocks)
    blocked_book(thread, &status, counts);
  else if (status.runs)
    late_fire(thread);
}

/* Request a lookup of the thread's stack if its bounds are unknown, or if a
 * sample was deeper than the known part. */
static void stack_lookup(const sp_thread *thread, sp_stack_requests *stacks) {
  const uint64_t sp = atomic_load(&thread->seen_sp);
  const uint64_t low = atomic_load(&thread->stack_low);
  const sp_stack_request request = {.sp = sp,
                                    .tp = atomic_load(&thread->seen_tp),
                                    .thread = thread->index,
                                    .tid = atomic_load(&thread->tid)};

  if (!thread->stack_final && sp != 0 && (low == 0 || sp < low))
    sp_stack_requests_add(stacks, &request);
}

static void thread_check(sp_thread *thread, scan_counts *counts) {
  if (thread->excluded)
    return;
  sp_thread_book_rejected(thread, false);
  if (thread->mask_read && !atomic_load(&thread->blocked) &&
      check_claim(thread, &sp_threads.next_clock, &counts->clocks_left) &&
      thread_silent(thread))
    thread->mask_read = false;
  if ((!thread->mask_read || atomic_load(&thread->blocked)) &&
      thread->enrolled_pass != sp_threads.pass &&
      check_claim(thread, &sp_threads.next_mask, &counts->status_left))
    mask_check(thread, counts);
  if (thread->timer != SP_TIMER_NONE) {
    counts->profiled++;
    counts->blocked += atomic_load(&thread->blocked);
  } else if (!sp_threads.paused && !counts->muted) {
    counts->unprofiled++;
  }
  if (counts->stacks)
    stack_lookup(thread, counts->stacks);
}

/* Check all records. Returns false if sampling stopped during the check. */
static bool records_check(scan_counts *counts) {
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
          thread_ended(thread))
        sp_thread_remove(thread);
      else
        thread_check(thread, counts);
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

/* Store the result, unless the record now belongs to another thread, or the
 * thread has registered, which set its exact stack. */
static void stack_store(const sp_stack_request *request) {
  sp_thread *thread = sp_thread_at(request->thread);

  if (atomic_load(&thread->tid) != request->tid || thread->stack_final)
    return;
  thread->stack_final = request->low == 0;
  if (thread->stack_final)
    return;
  /* Store the upper bound first, because the handler reads it if the lower
   * bound is not zero. */
  atomic_store(&thread->stack_high, request->high);
  atomic_store_explicit(&thread->stack_low, request->low, memory_order_release);
}

static void stacks_read(sp_stack_requests *stacks) {
  uint64_t cpu_ns = sp_thread_cpu_ns();
  size_t i;

  sp_stack_requests_resolve(stacks);
  pthread_mutex_lock(&sp_threads.lock);
  for (i = 0; i < stacks->count; i++)
    stack_store(&stacks->requests[i]);
  pthread_mutex_unlock(&sp_threads.lock);
  sp_threads.stacks_due_ns =
      sp_monotonic_ns() + SCAN_STACKS_BACKOFF * (sp_thread_cpu_ns() - cpu_ns);
}

size_t sp_threads_scan(sp_log *log) {
  scan_counts counts = {.status_left = SCAN_STATUS_MAX,
                        .clocks_left = SCAN_CLOCKS_MAX};
  /* Static, because only the collector calls this function. */
  static sp_stack_requests stacks;
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
  sampling = records_check(&counts);
  if (log)
    blocked_log(&counts, log);
  if (!sampling)
    return 0;
  if (stacks.count > 0)
    stacks_read(&stacks);
  atomic_store(&sp_counts.threads_profiled, counts.profiled - counts.blocked);
  atomic_store(&sp_counts.threads_unprofiled, counts.unprofiled);
  atomic_store(&sp_counts.threads_blocked, counts.blocked);
  if (counts.unprofiled > 0 && log)
    sp_log_warn(log, SP_LOG_THREADS,
                "%llu threads are not profiled: spanprof uses at most half of "
                "RLIMIT_SIGPENDING for timers; raise this limit (ulimit -i)",
                (unsigned long long)counts.unprofiled);
  return counts.threads;
}
