#include "signal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "util/system/clock.h"
#include "util/system/counters.h"
#include "util/system/status.h"

/* Process-wide, because signal handlers are process-wide. Written before the
 * handler is installed, unless noted. */
static struct {
  _Atomic(sp_signal_fn) handle; /* NULL: signals are ignored */
  _Atomic uint64_t probes; /* number of probe signals, written in the handler */
  /* Identifies the signals of this process; 0: not initialized. */
  uint32_t cookie;
} signal_state SP_HANDLER_DATA;

/* State of each signal that spanprof has ever used. Process-wide. */
static struct {
  _Atomic bool installed; /* also read by option checks during a start */
  struct sigaction before;
} signal_of[NSIG];

/* The linker's bounds of the sections of SP_HANDLER_CODE and
 * SP_HANDLER_DATA. */
extern const char __start_sp_handler_code[]
    __attribute__((visibility("hidden")));
extern const char __stop_sp_handler_code[]
    __attribute__((visibility("hidden")));
extern const char __start_sp_handler_data[]
    __attribute__((visibility("hidden")));
extern const char __stop_sp_handler_data[]
    __attribute__((visibility("hidden")));

/* valgrind reserves SIGRTMAX (valgrind 3.19, "VG_SIGVGKILL"). */
static int signal_highest(void) {
  return SIGRTMAX - 1;
}

/* Block the signals that the kernel would block while it runs the handler
 * `before`. The return from spanprof's handler restores the mask. The kernel's
 * sigset_t is one word. */
SP_HANDLER_RARE static void mask_as_before(const struct sigaction *before,
                                           int number, void *ucontext) {
  uint64_t mask, more;

  memcpy(&mask, &((ucontext_t *)ucontext)->uc_sigmask, sizeof mask);
  memcpy(&more, &before->sa_mask, sizeof more);
  mask |= more;
  if (!(before->sa_flags & SA_NODEFER))
    mask |= UINT64_C(1) << (number - 1);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

SP_HANDLER_RARE static void signal_chain(int number, siginfo_t *info,
                                         void *ucontext) {
  const struct sigaction *before = &signal_of[number].before;
  const int error = errno;

  sp_count(&sp_counts.signals_foreign, 1);
  mask_as_before(before, number, ucontext);
  if (before->sa_flags & SA_SIGINFO)
    before->sa_sigaction(number, info, ucontext);
  else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
    before->sa_handler(number);
  errno = error;
}

/* Prefetch all cache lines of a section at the same time. Without this, the
 * processor would fetch each line only when it reaches the line, and wait. See
 * SP_HANDLER_CODE. */
SP_HANDLER_CODE static void lines_fetch(const char *line, const char *end) {
  for (; line < end; line += SP_CACHE_LINE)
    __builtin_prefetch(line);
}

SP_HANDLER_CODE static void signal_handler(int number, siginfo_t *info,
                                           void *ucontext) {
  uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
  sp_signal_fn handle;

  lines_fetch(__start_sp_handler_data, __stop_sp_handler_data);
  /* The code has about 6 KB, or 8 KB with that of a language runtime. */
  lines_fetch(__start_sp_handler_code, __stop_sp_handler_code);
  if (info->si_code != SI_TIMER || !sp_signal_value_ours(value)) {
    signal_chain(number, info, ucontext);
  } else if ((uint32_t)value == SP_SIGNAL_PROBE) {
    atomic_fetch_add(&signal_state.probes, 1);
  } else {
    handle = atomic_load_explicit(&signal_state.handle, memory_order_acquire);
    if (handle)
      handle(number, (uint32_t)value, 1 + (uint64_t)info->si_overrun, ucontext);
  }
}

static void cookie_init(void) {
  if (getrandom(&signal_state.cookie, sizeof signal_state.cookie,
                GRND_NONBLOCK) != sizeof signal_state.cookie)
    signal_state.cookie = (uint32_t)(sp_monotonic_ns() ^ (uint64_t)getpid());
  signal_state.cookie |= 1;
}

static bool handler_is_ours(int number) {
  struct sigaction now;

  return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == signal_handler;
}

bool sp_signal_default(int number) {
  struct sigaction now;

  return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
         now.sa_handler == SIG_DFL;
}

static bool signal_free(int number) {
  return handler_is_ours(number) || sp_signal_default(number);
}

/* Check that no other handler has replaced spanprof's handler. If one has,
 * spanprof must not install its handler again, because each of the two handlers
 * might then call the other, endlessly. If the program has reset the signal to
 * its default action, there is no other handler. */
static spanprof_status signal_check_replaced(int number) {
  if (!signal_of[number].installed || signal_free(number))
    return SPANPROF_OK;
  return sp_fail(
      SPANPROF_ERR_SYSTEM,
      "another handler has replaced spanprof's for signal %d since the last "
      "session; set the option signal_number to another signal",
      number);
}

spanprof_status sp_signal_choose(int wanted, int *out) {
  spanprof_status st;
  int number;

  *out = 0;
  if (wanted != 0) {
    if (wanted < 1 || wanted > SIGRTMAX || wanted == SIGKILL ||
        wanted == SIGSTOP || wanted == SIGSEGV || wanted == SIGBUS ||
        wanted == SIGILL || wanted == SIGFPE)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "signal %d cannot be used for sampling; use 0 to select "
                     "a free real-time signal",
                     wanted);
    st = signal_check_replaced(wanted);
    if (!st)
      *out = wanted;
    return st;
  }
  for (number = signal_highest(); number >= SIGRTMIN; number--) {
    if (signal_free(number)) {
      *out = number;
      return SPANPROF_OK;
    }
  }
  return sp_fail(SPANPROF_ERR_SYSTEM,
                 "no real-time signal is free; set the option signal_number to "
                 "a signal that the program does not use");
}

/* Block every signal in the handler, so that no handler of the program
 * interrupts it and leaves it with a jump. The C library's two internal
 * signals, which sigfillset() excludes, are blocked, too, because a thread
 * cancellation is such a jump. Synchronous faults stay unblocked, because the
 * kernel ends a process that raises one while it is blocked. */
static void mask_fill(sigset_t *mask) {
  static const int faults[] = {SIGSEGV, SIGBUS,  SIGILL,
                               SIGFPE,  SIGTRAP, SIGSYS};
  size_t i;

  memset(mask, 0xff, sizeof *mask);
  for (i = 0; i < SP_COUNT_OF(faults); i++)
    sigdelset(mask, faults[i]);
}

spanprof_status sp_signal_install(int number, sp_signal_fn handle) {
  struct sigaction ours;
  spanprof_status st;

  if (!signal_state.cookie)
    cookie_init();
  atomic_store(&signal_state.handle, handle);
  st = signal_check_replaced(number);
  if (st || handler_is_ours(number))
    return st;
  if (sigaction(number, NULL, &signal_of[number].before) != 0)
    return sp_fail_errno(SPANPROF_ERR_SYSTEM, errno, "signal %d cannot be used",
                         number);
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = signal_handler;
  /* SA_ONSTACK: threads of Go and similar runtimes have small stacks, and
   * provide an alternate stack. */
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  mask_fill(&ours.sa_mask);
  if (sigaction(number, &ours, NULL) != 0)
    return sp_fail_errno(SPANPROF_ERR_SYSTEM, errno,
                         "no handler can be installed for signal %d", number);
  signal_of[number].installed = true;
  return SPANPROF_OK;
}

bool sp_signal_try_install(int number, sp_signal_fn handle) {
  return (signal_of[number].installed ? handler_is_ours(number)
                                      : sp_signal_default(number)) &&
         !sp_signal_install(number, handle);
}

bool sp_signal_owned(int number) {
  if (handler_is_ours(number))
    return true;
  sp_count(&sp_counts.signal_handler_lost, 1);
  return false;
}

uint64_t sp_signal_value(uint32_t index) {
  return (uint64_t)signal_state.cookie << 32 | index;
}

bool sp_signal_value_ours(uint64_t value) {
  return value >> 32 == signal_state.cookie && signal_state.cookie != 0;
}

uint64_t sp_signal_probes(void) {
  return atomic_load(&signal_state.probes);
}

void sp_signal_block(int number, sigset_t *mask_before) {
  sigset_t ours;

  sigemptyset(&ours);
  sigaddset(&ours, number);
  pthread_sigmask(SIG_BLOCK, &ours, mask_before);
}

void sp_signal_restore(int number, const sigset_t *mask_before) {
  const struct timespec now = {0, 0};
  siginfo_t other, info;
  bool have_other = false;
  sigset_t ours;

  sigemptyset(&ours);
  sigaddset(&ours, number);
  while (sigtimedwait(&ours, &info, &now) == number) {
    if (info.si_code == SI_TIMER &&
        sp_signal_value_ours((uint64_t)(uintptr_t)info.si_value.sival_ptr))
      continue;
    other = info;
    have_other = true;
  }
  if (have_other)
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), number,
            &other);
  pthread_sigmask(SIG_SETMASK, mask_before, NULL);
}
