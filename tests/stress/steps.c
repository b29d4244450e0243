/* Stress programs in Ruby and Python load this library. It lets the calling
 * thread run in single steps. Between any two instructions of a JIT compiler's
 * code, the thread receives the profiler's signal, with the same data as from
 * the thread's timer. So a state of the interpreter that lasts for only ten
 * instructions is sampled each time.
 *
 * The handler of the trap after each instruction sends the profiler's signal,
 * which is blocked while the handler runs. When the handler returns, the kernel
 * delivers the signal before the next instruction. Single steps need the trap
 * flag, which only x86-64 has. */
#define _GNU_SOURCE /* REG_RIP */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define STEPS_JIT_BYTES_MIN (UINT64_C(1) << 20)

#define STEPS_TRAP_FLAG 0x100

static struct {
  pid_t pid, tid;
  int number;  /* number of the profiler's signal */
  void *value; /* value of the profiler's signal */
  uint64_t jit_start, jit_end;
  uint64_t walks;
  volatile bool running;
} steps;

/* Find the profiler's timer of the calling thread in /proc/self/timers (man 5
 * proc_pid_timers). Returns 0 or an errno. */
static int timer_find(void) {
  FILE *file = fopen("/proc/self/timers", "re");
  unsigned long long value = 0;
  char line[128];
  int number = 0, tid;

  if (!file)
    return errno;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "signal: %d/%llx", &number, &value) == 2)
      continue;
    if (sscanf(line, "notify: signal/tid.%d", &tid) == 1 && tid == steps.tid &&
        number >= SIGRTMIN) {
      steps.number = number;
      steps.value = (void *)(uintptr_t)value;
    }
  }
  fclose(file);
  return steps.number ? 0 : ESRCH;
}

/* Find the memory of the JIT compiler's code: the largest run of adjacent
 * mappings without a file that begins with an executable one. (A JIT compiler
 * makes a page executable only after it has filled the page.) Returns 0 or an
 * errno. */
static int jit_find(void) {
  FILE *file = fopen("/proc/self/maps", "re");
  unsigned long long start, end, inode, run_start = 0, run_end = 0;
  char line[512], access[8];

  if (!file)
    return errno;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%llx-%llx %7s %*s %*s %llu", &start, &end, access,
               &inode) != 4 ||
        inode != 0 || strstr(line, "[v"))
      continue;
    if (run_end != start) {
      if (access[2] != 'x')
        continue;
      run_start = start;
    }
    run_end = end;
    if (run_end - run_start >= STEPS_JIT_BYTES_MIN &&
        run_end - run_start > steps.jit_end - steps.jit_start) {
      steps.jit_start = run_start;
      steps.jit_end = run_end;
    }
  }
  fclose(file);
  return 0;
}

static void signal_queue(void) {
  const int error = errno;
  siginfo_t info;

  memset(&info, 0, sizeof info);
  info.si_signo = steps.number;
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = steps.value;
  if (syscall(SYS_rt_tgsigqueueinfo, steps.pid, steps.tid, steps.number,
              &info) == 0)
    steps.walks++;
  errno = error;
}

static void trap_handler(int number, siginfo_t *info, void *ucontext) {
  greg_t *registers = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
  uint64_t pc = (uint64_t)registers[REG_RIP];

  (void)number, (void)info;
  if (!steps.running)
    registers[REG_EFL] &= ~STEPS_TRAP_FLAG;
  else if (pc >= steps.jit_start && pc < steps.jit_end)
    signal_queue();
}

int steps_begin(void);
void steps_end(void);
uint64_t steps_walks(void);

/* Begin single steps. The calling thread must be profiled, and must neither
 * block SIGTRAP nor start threads until steps_end(). Returns 0 or an errno,
 * which is ESRCH if the thread has no timer. */
int steps_begin(void) {
  struct sigaction action;
  int error;

  steps.pid = getpid();
  steps.tid = (pid_t)syscall(SYS_gettid);
  error = timer_find();
  if (!error)
    error = jit_find();
  if (error)
    return error;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = trap_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  if (sigaction(SIGTRAP, &action, NULL) != 0)
    return errno;
  steps.running = true;
  /* Set the trap flag. Skip the red zone before the push (System V ABI, AMD64,
   * 3.2.2). */
  __asm__ volatile("subq $128, %%rsp\n\t"
                   "pushfq\n\t"
                   "orq %0, (%%rsp)\n\t"
                   "popfq\n\t"
                   "leaq 128(%%rsp), %%rsp"
                   :
                   : "i"(STEPS_TRAP_FLAG)
                   : "cc", "memory");
  return 0;
}

void steps_end(void) {
  steps.running = false;
}

/* Returns the number of signals that were sent so far. */
uint64_t steps_walks(void) {
  return steps.walks;
}
