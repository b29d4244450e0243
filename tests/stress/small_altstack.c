/* Handlers of the program run on alternate signal stacks of 8 KB while they are
 * sampled. One of them handles SIGSEGV and repairs the fault. If the library's
 * handler overflowed such a stack, it would reach an unmapped page and end the
 * program. */
#include "stress_run.h"

#include <signal.h>
#include <sys/mman.h>

#define ALTSTACK_BYTES   8192
#define ALTSTACK_THREADS 3
#define ALTSTACK_PAGE    4096
#define ALTSTACK_PAINT   0xa5

static uint64_t work_until_ns;
static _Atomic uint64_t handled, repaired, handler_ticks;
/* largest number of bytes that any alternate stack has used */
static _Atomic size_t deepest_bytes;
static _Thread_local char *fault_page;
static _Thread_local unsigned char *altstack;

STRESS_NAMED static void altstack_handler_burn(void) {
  stress_burn(2 * STRESS_NS_PER_MS);
  STRESS_STAY;
}

static void on_user(int number) {
  (void)number;
  altstack_handler_burn();
  handled++;
}

static void on_fault(int number, siginfo_t *info, void *ucontext) {
  (void)number;
  (void)ucontext;
  if (info->si_addr != fault_page)
    abort();
  altstack_handler_burn();
  mprotect(fault_page, ALTSTACK_PAGE, PROT_READ | PROT_WRITE);
  repaired++;
}

static void altstack_set(void) {
  char *memory = mmap(NULL, ALTSTACK_BYTES + ALTSTACK_PAGE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack = {.ss_sp = memory + ALTSTACK_PAGE, .ss_size = ALTSTACK_BYTES};

  STRESS_REQUIRE(
      memory != MAP_FAILED &&
          mprotect(stack.ss_sp, ALTSTACK_BYTES, PROT_READ | PROT_WRITE) == 0 &&
          sigaltstack(&stack, NULL) == 0,
      "no alternate stack");
  altstack = stack.ss_sp;
  memset(altstack, ALTSTACK_PAINT, ALTSTACK_BYTES);
}

/* Measure how much of this thread's alternate stack was ever used. */
static void altstack_measure(void) {
  size_t at = 0;

  while (at < ALTSTACK_BYTES && altstack[at] == ALTSTACK_PAINT)
    at++;
  if (ALTSTACK_BYTES - at > deepest_bytes)
    deepest_bytes = ALTSTACK_BYTES - at;
}

static void *worker_run(void *data) {
  (void)data;
  altstack_set();
  fault_page =
      mmap(NULL, ALTSTACK_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  while (stress_now_ns() < work_until_ns) {
    raise(SIGUSR1);
    *(volatile char *)fault_page = 1;
    mprotect(fault_page, ALTSTACK_PAGE, PROT_NONE);
    stress_burn(STRESS_NS_PER_MS);
  }
  munmap(fault_page, ALTSTACK_PAGE);
  altstack_measure();
  return NULL;
}

static void sample_add(void *data, const tally_sample *sample) {
  (void)data;
  if (tally_sample_has(sample, "altstack_handler_burn"))
    handler_ticks += sample->ticks;
}

int main(void) {
  struct sigaction user = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};
  struct sigaction fault = {.sa_sigaction = on_fault,
                            .sa_flags = SA_ONSTACK | SA_SIGINFO};
  pthread_t threads[ALTSTACK_THREADS];
  static stress_run run;
  unsigned i;

  work_until_ns = stress_begin();
  stress_wall_hz("2000");
  sigaction(SIGUSR1, &user, NULL);
  sigaction(SIGSEGV, &fault, NULL);
  stress_run_init(&run, "small_altstack");
  run.sum.on_sample = sample_add;
  stress_run_start(&run);
  for (i = 0; i < ALTSTACK_THREADS; i++)
    pthread_create(&threads[i], NULL, worker_run, NULL);
  for (i = 0; i < ALTSTACK_THREADS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  STRESS_REQUIRE(handled > 0 && repaired > 0, "no handler ran");
  STRESS_REQUIRE(handler_ticks > 0, "no handler was sampled");
  printf("%zu of %d bytes used; %llu signals, %llu faults, %llu ticks in their "
         "handlers; ",
         deepest_bytes, ALTSTACK_BYTES, (unsigned long long)handled,
         (unsigned long long)repaired, (unsigned long long)handler_ticks);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
