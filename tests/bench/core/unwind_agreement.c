/* Compares the stacks of spanprof's unwinder with those of libunwind. Timer
 * signals interrupt real work at any instruction. The signal handler copies the
 * registers and the stack, as the sampler does, and lets libunwind walk the
 * stack. Later spanprof's unwinder walks the copies. Differences are counted by
 * their kind, and some of them are printed.
 *
 * unwind_agreement [SAMPLES]     default 20,000 (quick: 1,000) */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "bench.h"
#include "unwind/unwinder.h"
#include "unwind_workloads.h"

#define AGREE_FRAMES  256
#define AGREE_SLICE   65536
#define AGREE_RECORDS 256
/* Period of the timer: a prime number of ns, so that it does not resonate with
 * the work. */
#define AGREE_PERIOD_NS 199999
/* CPU time of a workload before the next workload runs. */
#define AGREE_TURN_NS 20000000
/* Largest number of differences that are printed for each workload. */
#define AGREE_SHOWN 3

typedef struct record {
  sp_registers registers;
  uint64_t base;
  size_t size;
  bool whole;
  size_t count; /* number of frames that libunwind found */
  int last;     /* result of libunwind's last unw_step() */
  uint64_t pcs[AGREE_FRAMES];
  _Alignas(8) char slice[AGREE_SLICE];
} record;

typedef struct agreement {
  uint64_t same;
  uint64_t cut;     /* the frames are equal, but spanprof's stack ends where the
                     * copy ends */
  uint64_t longer;  /* spanprof's stack continues where libunwind stopped */
  uint64_t shorter; /* the frames are equal, but spanprof's stack ends, because
                     * information is missing */
  uint64_t astray;  /* libunwind's next frame is not in a module */
  uint64_t other;   /* a frame differs */
} agreement;

typedef struct oracle {
  int (*init)(unw_cursor_t *cursor, unw_context_t *context, int flags);
  int (*step)(unw_cursor_t *cursor);
  int (*get_reg)(unw_cursor_t *cursor, int number, unw_word_t *out);
} oracle;

/* Global, because the handler has no argument. */
static oracle libunwind;
static record *records;
static _Atomic size_t record_count;
static uint64_t stack_limit;

static void oracle_walk(record *record, void *ucontext) {
  unw_cursor_t cursor;

  record->count = 0;
  record->last = libunwind.init(&cursor, ucontext, UNW_INIT_SIGNAL_FRAME);
  while (record->last >= 0 && record->count < AGREE_FRAMES) {
    unw_word_t ip = 0;

    if (libunwind.get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0)
      break;
    record->pcs[record->count++] = ip;
    record->last = libunwind.step(&cursor);
    if (record->last <= 0)
      break;
  }
}

static void on_signal(int number, siginfo_t *info, void *ucontext) {
  const size_t index = atomic_load(&record_count);
  const int error = errno;
  record *record = &records[index];
  uint64_t sp;

  (void)number;
  (void)info;
  if (index == AGREE_RECORDS)
    return;
  sp_registers_read(&record->registers, ucontext);
  sp = record->registers.r[SP_REGISTER_SP];
  record->base = (sp - SP_RED_ZONE_BYTES) & ~UINT64_C(7);
  record->size = (size_t)sp_min_u64(AGREE_SLICE, stack_limit - record->base);
  record->whole = record->size < AGREE_SLICE;
  memcpy(record->slice, (const void *)(uintptr_t)record->base, record->size);
  oracle_walk(record, ucontext);
  atomic_store(&record_count, index + 1);
  errno = error;
}

static void *oracle_symbol(void *library, const char *name) {
  void *symbol = dlsym(library, name);

  if (!symbol) {
    fprintf(stderr, "unwind_agreement: %s: %s\n", name, dlerror());
    exit(1);
  }
  return symbol;
}

/* libunwind is not linked, because its _Unwind_* would replace libgcc's. */
static void oracle_load(void) {
  void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

  if (!library) {
    fprintf(stderr, "unwind_agreement: %s\n", dlerror());
    exit(1);
  }
#define ORACLE_TEXT_(name) #name
#define ORACLE_TEXT(name)  ORACLE_TEXT_(name)
  *(void **)&libunwind.init =
      oracle_symbol(library, ORACLE_TEXT(unw_init_local2));
  *(void **)&libunwind.step = oracle_symbol(library, ORACLE_TEXT(unw_step));
  *(void **)&libunwind.get_reg =
      oracle_symbol(library, ORACLE_TEXT(unw_get_reg));
}

static void show_frame(sp_unwinder *unwinder, const char *who, size_t i,
                       uint64_t pc, const sp_native_frame *frame) {
  const sp_module *module = sp_unwinder_module(unwinder, frame->module);
  const char *name;
  uint64_t start;

  if (!sp_unwinder_symbol(unwinder, frame->module, frame->address, &name,
                          &start))
    name = "?";
  printf("    %-9s %2zu %#llx %s %s+%#llx\n", who, i, (unsigned long long)pc,
         module ? module->path : "-", name, (unsigned long long)frame->address);
}

static void show_difference(sp_unwinder *unwinder, const record *record,
                            const sp_native_frame *ours, size_t n, size_t equal,
                            const char *work, const char *kind) {
  size_t i = equal > 3 ? equal - 3 : 0;

  printf(
      "  %s, in %s: the first %zu frames are equal; spanprof has %zu frames, "
      "libunwind %zu (last step: %d)\n",
      kind, work, equal, n, record->count, record->last);
  for (; i < n && i < equal + 2; i++)
    show_frame(unwinder, "spanprof", i, ours[i].pc, &ours[i]);
  for (i = equal; i < record->count && i < equal + 2; i++)
    printf("    %-9s %2zu %#llx\n", "libunwind", i,
           (unsigned long long)record->pcs[i]);
}

/* Returns whether an address is in code of a loaded module. */
static bool in_module(sp_unwinder *unwinder, uint64_t pc) {
  sp_stack_slice slice = {.registers.r[SP_REGISTER_PC] = pc};
  sp_native_frame frame;
  sp_unwind_end end;

  sp_unwinder_walk(unwinder, &slice, &frame, 1, &end);
  return frame.module != 0;
}

static void compare(sp_unwinder *unwinder, const record *record,
                    const char *work, agreement *out) {
  const sp_stack_slice slice = {.registers = record->registers,
                                .base = record->base,
                                .bytes = record->slice,
                                .size = record->size,
                                .whole = record->whole};
  sp_native_frame ours[AGREE_FRAMES];
  const char *kind = "a frame differs";
  sp_unwind_end end;
  size_t n = sp_unwinder_walk(unwinder, &slice, ours, AGREE_FRAMES, &end);
  size_t equal = 0;

  /* libunwind's addresses are return addresses; those of spanprof's unwinder
   * are one lower. */
  while (equal < n && equal < record->count &&
         record->pcs[equal] - ours[equal].pc <= 1)
    equal++;
  if (equal == n && equal == record->count) {
    out->same++;
    return;
  }
  if (equal == n && end == SP_UNWIND_CUT) {
    out->cut++;
    return;
  }
  if (equal < record->count && !in_module(unwinder, record->pcs[equal])) {
    out->astray++;
    kind = "libunwind left all modules";
  } else if (equal == record->count) {
    out->longer++;
    kind = "libunwind ended earlier";
  } else if (equal == n) {
    out->shorter++;
    kind = end == SP_UNWIND_NO_INFO ? "spanprof had no information"
                                    : "spanprof ended earlier";
  } else {
    out->other++;
  }
  if (out->longer + out->shorter + out->astray + out->other > AGREE_SHOWN)
    return;
  show_difference(unwinder, record, ours, n, equal, work, kind);
}

static timer_t timer_begin(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                           .sigev_signo = SIGRTMIN + 3};
  struct sigaction action = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  timer_t timer;

  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  if (sigaction(event.sigev_signo, &action, NULL) != 0 ||
      timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
    perror("unwind_agreement: timer");
    exit(1);
  }
  return timer;
}

static void timer_run(timer_t timer, bool on) {
  struct itimerspec spec = {.it_interval.tv_nsec = AGREE_PERIOD_NS,
                            .it_value.tv_nsec = AGREE_PERIOD_NS};

  if (!on)
    memset(&spec, 0, sizeof spec);
  timer_settime(timer, 0, &spec, NULL);
}

static uint64_t main_stack_limit(void) {
  pthread_attr_t attributes;
  void *start;
  size_t size;

  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  return (uint64_t)(uintptr_t)start + size;
}

static uint64_t agreement_total(const agreement *part) {
  return part->same + part->cut + part->longer + part->shorter + part->astray +
         part->other;
}

static void agreement_add(agreement *sum, const agreement *part) {
  sum->same += part->same;
  sum->cut += part->cut;
  sum->longer += part->longer;
  sum->shorter += part->shorter;
  sum->astray += part->astray;
  sum->other += part->other;
}

static void report(const char *name, const agreement *part) {
  printf("%-16s %8llu %8llu %8llu %8llu %8llu %8llu\n", name,
         (unsigned long long)part->same, (unsigned long long)part->cut,
         (unsigned long long)part->longer, (unsigned long long)part->shorter,
         (unsigned long long)part->astray, (unsigned long long)part->other);
}

/* Run all workloads in rounds, and compare the samples of each, until the usual
 * workloads have `wanted` samples. Adds the results to `parts`. */
static void measure(sp_unwinder *unwinder, uint64_t wanted, agreement *parts,
                    uint64_t *spent_ns) {
  const timer_t timer = timer_begin();
  uint64_t usual = 0;
  unsigned round;

  for (round = 0; usual < wanted || round % unwind_workload_count; round++) {
    const size_t work = round % unwind_workload_count;
    uint64_t started_ns = bench_cpu_ns();
    size_t i, count;

    atomic_store(&record_count, 0);
    timer_run(timer, true);
    for (i = 0; bench_cpu_ns() - started_ns < AGREE_TURN_NS; i++)
      unwind_workloads[work].run(round + (unsigned)i);
    timer_run(timer, false);
    count = atomic_load(&record_count);
    sp_unwinder_refresh(unwinder);
    started_ns = bench_cpu_ns();
    for (i = 0; i < count; i++)
      compare(unwinder, &records[i], unwind_workloads[work].name, &parts[work]);
    *spent_ns += bench_cpu_ns() - started_ns;
    usual += unwind_workloads[work].usual ? count : 0;
  }
  timer_delete(timer);
}

int main(int argc, char **argv) {
  const bool quick = bench_quick();
  const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10)
                          : quick  ? 1000
                                   : 20000;
  agreement *parts = calloc(unwind_workload_count, sizeof *parts);
  agreement usual = {0}, all = {0};
  sp_unwinder *unwinder = NULL;
  uint64_t spent_ns = 0;
  char measured[96];
  double share;
  size_t i;

  records = mmap(NULL, AGREE_RECORDS * sizeof *records, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (!parts || records == MAP_FAILED)
    bench_die("unwind_agreement: no memory");
  oracle_load();
  unwind_workloads_begin();
  if (sp_unwinder_new(&unwinder, &sp_mem_default) != SPANPROF_OK)
    bench_die("unwind_agreement: no unwinder");
  stack_limit = main_stack_limit();
  measure(unwinder, wanted, parts, &spent_ns);
  printf("%-16s %8s %8s %8s %8s %8s %8s\n", "", "same", "slice", "longer",
         "shorter", "astray", "differ");
  for (i = 0; i < unwind_workload_count; i++) {
    report(unwind_workloads[i].name, &parts[i]);
    agreement_add(&all, &parts[i]);
    if (unwind_workloads[i].usual)
      agreement_add(&usual, &parts[i]);
  }
  report("all", &all);
  share = (double)(usual.same + usual.cut) / (double)agreement_total(&usual);
  snprintf(measured, sizeof measured, "%.3f %% of %llu (all %.3f %%)",
           100 * share, (unsigned long long)agreement_total(&usual),
           100.0 * (double)(all.same + all.cut) /
               (double)agreement_total(&all));
  bench_bar("unwind agreement with libunwind", measured, ">= 99.9 %",
            "the alternative is the oracle", share >= 0.999);
  snprintf(measured, sizeof measured, "%.2f us a stack",
           (double)spent_ns / 1e3 / (double)agreement_total(&all));
  bench_bar("unwinding a copied stack", measured, "<= 4 us", "-",
            (double)spent_ns / 1e3 / (double)agreement_total(&all) <= 4);
  sp_unwinder_free(unwinder);
  free(parts);
  return 0;
}
