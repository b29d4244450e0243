#include "sampler/handler/signal.h"

#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static _Atomic int handled, jumps, other_signals;
static uint64_t mask_inside, mask_of_other;
static sigjmp_buf jump;

static uint64_t mask_now(void) {
  uint64_t mask = 0;

  CHECK_EQUAL(syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, 8), 0);
  return mask;
}

static bool mask_has(uint64_t mask, int number) {
  return mask >> (number - 1) & 1;
}

/* Called in place of the sampler's function. Sends another signal, which
 * arrives while the handler runs. */
static void handle(int number, uint32_t index, uint64_t ticks, void *ucontext) {
  (void)number, (void)index, (void)ticks, (void)ucontext;
  mask_inside = mask_now();
  syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGALRM);
  handled++;
}

static void jump_out(int number) {
  (void)number;
  jumps++;
  siglongjmp(jump, 1);
}

static void other_handle(int number) {
  (void)number;
  mask_of_other = mask_now();
  other_signals++;
}

/* Send the signal as a timer of spanprof does. */
static void send_ours(int number) {
  siginfo_t info;

  memset(&info, 0, sizeof info);
  info.si_signo = number;
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = (void *)(uintptr_t)sp_signal_value(1);
  CHECK_EQUAL(syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid),
                      number, &info),
              0);
}

static void no_handler_jumps_out_of_ours(void) {
  static const int faults[] = {SIGSEGV, SIGBUS,  SIGILL,
                               SIGFPE,  SIGTRAP, SIGSYS};
  /* 32 and 33 are glibc's internal signals, for thread cancellation and for
   * setuid() of all threads. */
  static const int others[] = {SIGALRM, SIGPROF, SIGURG, SIGUSR1,
                               SIGTERM, 32,      33};
  struct sigaction action = {.sa_handler = jump_out};
  int number;
  size_t i;

  CHECK_EQUAL(sp_signal_choose(0, &number), SPANPROF_OK);
  CHECK_EQUAL(sp_signal_install(number, handle), SPANPROF_OK);
  CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
  if (sigsetjmp(jump, 1) == 0)
    send_ours(number);
  CHECK_EQUAL(jumps, 1);
  CHECK_EQUAL(handled, 1);
  for (i = 0; i < sizeof others / sizeof others[0]; i++)
    CHECK(mask_has(mask_inside, others[i]));
  for (i = 0; i < sizeof faults / sizeof faults[0]; i++)
    CHECK(!mask_has(mask_inside, faults[i]));
  CHECK(!mask_has(mask_now(), SIGALRM));
}

static void the_previous_handler_gets_its_signal_mask(void) {
  struct sigaction action = {.sa_handler = other_handle};

  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR2);
  CHECK_EQUAL(sigaction(SIGPROF, &action, NULL), 0);
  CHECK_EQUAL(sp_signal_install(SIGPROF, handle), SPANPROF_OK);
  CHECK_EQUAL(raise(SIGPROF), 0);
  CHECK_EQUAL(other_signals, 1);
  CHECK(mask_has(mask_of_other, SIGPROF));
  CHECK(mask_has(mask_of_other, SIGUSR2));
  CHECK(!mask_has(mask_of_other, SIGALRM));
  CHECK_EQUAL(mask_now(), 0);
}

static const check_test tests[] = {
    {"no_handler_jumps_out_of_ours", no_handler_jumps_out_of_ours},
    {"the_previous_handler_gets_its_signal_mask",
     the_previous_handler_gets_its_signal_mask},
};

int main(int argc, char **argv) {
#if defined(__SANITIZE_THREAD__)
  fprintf(stderr, "skipped: ThreadSanitizer calls handlers later and with its "
                  "own mask\n");
  return 77;
#endif
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
