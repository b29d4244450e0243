/* The collector's look at /proc/self/task; see thread_table.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../util/counters.h"
#include "../util/own_thread.h"
#include "stack_top.h"
#include "task_file.h"
#include "thread_table.h"
#include "thread_table_inside.h"

/* How many status files one scan reads (some 15 us each), and how many CPU
 * clocks it asks (0.4 us each). */
#define SCAN_STATUS_MAX 24
#define SCAN_CLOCKS_MAX 64

/* Every so many scans the directory is read in any case: a number of ours that
 * was left behind by a thread that is gone would be counted for one of the
 * program's. */
#define SCAN_READ_EVERY 8

/* Stacks grow to 8 MiB by default; a mapping that holds more below the thread's
 * control block than this is no plain thread stack. */
#define SCAN_STACK_BYTES_MAX (64u << 20)

/* man 2 getdents. */
typedef struct scan_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  unsigned char type;
  char name[];
} scan_entry;

typedef struct scan_counts {
  size_t threads;
  uint64_t profiled;
  uint64_t unprofiled;
  uint64_t blocked;
  unsigned status_left;
  unsigned clocks_left;
  bool stacks_wanted;
} scan_counts;

static void thread_seen(int tid) {
  uint32_t index = sp_tid_map_get(&sp_threads.by_tid, tid);
  sp_thread *thread = index ? sp_thread_at(index) : NULL;

  /* The same number, but the thread the timer was made for is gone. */
  if (thread && thread->timer != SP_TIMER_NONE && !sp_threads.base.wall &&
      sp_timer_look(thread->timer) == SP_TIMER_DEAD)
    sp_thread_remove(thread);
  sp_thread_enrol_locked(tid, NULL);
  index = sp_tid_map_get(&sp_threads.by_tid, tid);
  if (index)
    sp_thread_at(index)->pass = sp_threads.pass;
}

static void entries_see(const char *entries, size_t bytes,
                        scan_counts *counts) {
  size_t at = 0;

  pthread_mutex_lock(&sp_threads.lock);
  while (at < bytes && sp_threads.sampling) {
    const scan_entry *entry = (const scan_entry *)(entries + at);
    int tid = (int)strtol(entry->name, NULL, 10);

    if (tid > 0 && !sp_own_thread_is(tid)) {
      thread_seen(tid);
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

/* As many threads as have a timer or are ours? Each has a link in the directory
 * (Linux 6.1, proc_task_getattr()). */
static bool tasks_as_many(void) {
  struct stat directory;
  size_t timers;
  bool due;

  pthread_mutex_lock(&sp_threads.lock);
  timers = sp_threads.timer_count;
  due = sp_threads.base.wall || sp_threads.pass % SCAN_READ_EVERY == 0;
  pthread_mutex_unlock(&sp_threads.lock);
  return !due && stat("/proc/self/task", &directory) == 0 &&
         directory.st_nlink == 2 + timers + sp_own_thread_count();
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
      known = thread->timer != SP_TIMER_NONE &&
              sp_timer_look(thread->timer) != SP_TIMER_DEAD;
      if (known)
        thread->pass = sp_threads.pass;
      counts->threads++;
    }
    end = sp_threads.record_count;
    pthread_mutex_unlock(&sp_threads.lock);
  } while (known && i < end);
  return known;
}

typedef struct thread_status {
  char name[32];
  bool blocks;
} thread_status;

/* Read a thread's name and whether our signal is in its mask. False also of
 * main's thread after its end, which blocks every signal. */
static bool status_read(int tid, int signal_number, thread_status *out) {
  char text[2048];
  const char *line;
  unsigned long long mask;

  if (!sp_task_file_read(tid, "status", text, sizeof text) ||
      strstr(text, "State:\tZ"))
    return false;
  if (sscanf(text, "Name: %31[^\n]", out->name) != 1)
    out->name[0] = '\0';
  line = strstr(text, "SigBlk:");
  if (!line || sscanf(line, "SigBlk: %llx", &mask) != 1)
    return false;
  out->blocks = mask >> (signal_number - 1) & 1;
  return true;
}

/* Did the thread use CPU time without being sampled since the last look? */
static bool thread_silent(sp_thread *thread) {
  uint64_t samples = atomic_load(&thread->samples);
  uint64_t cpu_ns = sp_timer_thread_cpu_ns(thread->tid);
  bool silent =
      samples == thread->checked_samples &&
      cpu_ns > thread->checked_cpu_ns + 3 * sp_threads.base.interval_ns;

  thread->checked_samples = samples;
  thread->checked_cpu_ns = cpu_ns;
  return silent;
}

static void mask_look(sp_thread *thread, sp_log *log) {
  thread_status status;
  bool was = atomic_load(&thread->blocked);

  thread->mask_read = true;
  if (!status_read(thread->tid, sp_threads.signal_number, &status))
    return;
  /* A thread that is being made has every signal blocked for a moment (glibc
   * 2.32 and later, pthread_create()); only one that still has is meant. */
  if (status.blocks && !was && !thread->mask_doubted) {
    thread->mask_doubted = true;
    thread->mask_read = false;
    return;
  }
  thread->mask_doubted = false;
  if (status.blocks == was)
    return;
  atomic_store(&thread->blocked, status.blocks);
  if (status.blocks && log)
    sp_log_warn(log, SP_LOG_THREADS,
                "thread \"%s\" (%d) blocks signal %d and is not profiled while "
                "it does",
                status.name, thread->tid, sp_threads.signal_number);
}

/* Gone for certain: readdir(3) of a task directory may miss a thread while
 * others end. Or one of ours, seen before it could say so. */
static bool thread_gone(const sp_thread *thread) {
  return sp_own_thread_is(thread->tid) ||
         (syscall(SYS_tgkill, getpid(), thread->tid, 0) != 0 && errno == ESRCH);
}

static void thread_look(sp_thread *thread, scan_counts *counts, sp_log *log) {
  bool first = !thread->mask_read && thread->enrolled_pass != sp_threads.pass;
  bool wanted = first || atomic_load(&thread->blocked);

  if (!wanted && counts->clocks_left > 0 &&
      thread->index >= sp_threads.next_look) {
    counts->clocks_left--;
    sp_threads.next_look = thread->index + 1;
    wanted = thread_silent(thread);
  }
  if (wanted && counts->status_left > 0) {
    counts->status_left--;
    mask_look(thread, log);
  }
  if (atomic_load(&thread->blocked))
    counts->blocked++;
  if (thread->timer == SP_TIMER_NONE)
    counts->unprofiled++;
  else
    counts->profiled++;
  if (!thread->stack_asked && atomic_load(&thread->seen_sp) != 0)
    counts->stacks_wanted = true;
}

/* False: a stop came in between, and took the timers. */
static bool records_look(scan_counts *counts, sp_log *log) {
  uint32_t i = 1, end;
  bool sampling;

  do {
    pthread_mutex_lock(&sp_threads.lock);
    sampling = sp_threads.sampling;
    end = sampling ? i + SP_THREAD_CHUNK : 0;
    for (; i < end && i < sp_threads.record_count; i++) {
      sp_thread *thread = sp_thread_at(i);

      if (thread->tid == 0)
        continue;
      if ((thread->pass != sp_threads.pass || thread->timer == SP_TIMER_NONE) &&
          thread_gone(thread))
        sp_thread_remove(thread);
      else
        thread_look(thread, counts, log);
    }
    end = sp_threads.record_count;
    if (i >= end && counts->clocks_left > 0)
      sp_threads.next_look = 0;
    pthread_mutex_unlock(&sp_threads.lock);
  } while (sampling && i < end);
  return sampling;
}

/* The stack of a thread that never called us: the mapping that holds both its
 * stack pointer and its control block, up to the control block (glibc and musl
 * put it at the stack's outer end), or the main thread's. Every other stack is
 * read with a system call that cannot fault. */
static void stack_match(sp_thread *thread, uint64_t low, uint64_t high,
                        bool main_stack) {
  uint64_t sp = atomic_load(&thread->seen_sp);
  uint64_t tp = atomic_load(&thread->seen_tp);

  if (sp < low || sp >= high)
    return;
  if (!main_stack) {
    if (tp <= sp || tp >= high || tp - low > SCAN_STACK_BYTES_MAX)
      return;
  }
  high = sp_stack_top(tp, low, high);
  /* High first: the handler takes low for "known". */
  atomic_store(&thread->stack_high, high);
  atomic_store_explicit(&thread->stack_low, low, memory_order_release);
}

static void stacks_read(void) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[512];
  uint32_t i;

  if (!maps)
    return;
  pthread_mutex_lock(&sp_threads.lock);
  while (fgets(line, sizeof line, maps)) {
    unsigned long long low, high;
    char access[8];

    if (sscanf(line, "%llx-%llx %7s", &low, &high, access) != 3 ||
        access[0] != 'r')
      continue;
    for (i = 1; i < sp_threads.record_count; i++) {
      sp_thread *thread = sp_thread_at(i);

      if (thread->tid != 0 && !thread->stack_asked &&
          atomic_load(&thread->seen_sp) != 0)
        stack_match(thread, low, high, strstr(line, "[stack]") != NULL);
    }
  }
  for (i = 1; i < sp_threads.record_count; i++)
    if (atomic_load(&sp_thread_at(i)->seen_sp) != 0)
      sp_thread_at(i)->stack_asked = true;
  pthread_mutex_unlock(&sp_threads.lock);
  fclose(maps);
}

size_t sp_threads_scan(sp_log *log) {
  scan_counts counts = {.status_left = SCAN_STATUS_MAX,
                        .clocks_left = SCAN_CLOCKS_MAX};

  pthread_mutex_lock(&sp_threads.lock);
  sp_threads.pass++;
  pthread_mutex_unlock(&sp_threads.lock);
  if (!tasks_known(&counts) && !tasks_read(&counts)) {
    if (log)
      sp_log_warn(log, SP_LOG_THREADS,
                  "/proc/self/task cannot be read; only threads that register "
                  "are profiled");
    return 0;
  }
  if (!records_look(&counts, log))
    return 0;
  if (counts.stacks_wanted)
    stacks_read();
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
