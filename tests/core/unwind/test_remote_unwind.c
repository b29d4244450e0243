#include <dlfcn.h>

#include "failing_mem.h"
#include "unwind/remote_unwind.h"
#include "unwind_fixture.h"

#define FRAMES 128

static capture taken;
static sp_native_frame frames[FRAMES];
static uint64_t pcs[FRAMES];
static volatile unsigned kept;

__attribute__((noinline)) static void inner_function(void) {
  capture_now();
  kept++;
}

static int compare_and_capture(const void *a, const void *b) {
  if (*(const int *)a == 3)
    inner_function();
  return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void outer_function(void) {
  int numbers[] = {3, 1, 2};

  qsort(numbers, 3, sizeof *numbers, compare_and_capture);
  kept += (unsigned)numbers[0];
}

static void handler_of_outer(int number) {
  outer_function();
  kept += (unsigned)number;
}

/* Check that the stack walk by rows and libunwind's give the same frames. */
static void check_same(size_t at_least) {
  sp_remote_unwind *remote = NULL;
  sp_unwinder *unwinder = NULL;
  sp_module_list list;
  sp_unwind_end end, remote_end;
  size_t n, remote_n, i;

  CHECK_EQUAL(sp_unwinder_new(&unwinder, &sp_mem_default), SPANPROF_OK);
  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  CHECK_EQUAL(sp_remote_unwind_new(&remote, &list, &sp_mem_default),
              SPANPROF_OK);
  n = sp_unwinder_walk(unwinder, &taken.slice, frames, FRAMES, &end);
  remote_n =
      sp_remote_unwind_walk(remote, &taken.slice, pcs, FRAMES, &remote_end);
  CHECK_EQUAL(remote_n, n);
  CHECK_EQUAL(remote_end, end);
  CHECK(n >= at_least);
  /* libunwind returns return addresses; the walk by rows returns addresses
   * inside the call instruction. */
  for (i = 0; i < n; i++)
    CHECK(pcs[i] - frames[i].pc <= 1);
  sp_remote_unwind_free(remote);
  sp_module_list_dispose(&list);
  sp_unwinder_free(unwinder);
}

static void libunwind_agrees_on_a_copied_stack(void) {
  capture_begin(&taken);
  outer_function();
  check_same(8);
}

static void libunwind_agrees_through_a_signal_handler(void) {
  struct sigaction action = {.sa_handler = handler_of_outer};

  sigaction(SIGUSR1, &action, NULL);
  capture_begin(&taken);
  raise(SIGUSR1);
  check_same(12);
}

static void libunwind_agrees_where_the_slice_ends(void) {
  capture_begin(&taken);
  outer_function();
  taken.slice.size = 700;
  taken.slice.whole = false;
  check_same(2);
}

#if defined(__x86_64__)
/* The CFA of this function needs an expression, as in OpenSSL: *(rsp + r9 * 8)
 * + 24, with r9 = 5. */
void expressive(void);
void expressive_end(void);
__asm__(".text\n"
        ".type expressive, @function\n"
        "expressive: .cfi_startproc\n"
        ".cfi_escape 0x0f,0x0a,0x77,0x00,0x79,0x00,0x38,0x1e,0x22,0x06,0x23,"
        "0x18\n"
        "nop; nop\n"
        "expressive_end: .cfi_endproc\n"
        ".size expressive, . - expressive\n"
        ".globl expressive, expressive_end\n");

static void an_expression_is_unwound_by_libunwind(void) {
  uint64_t words[32] = {0};
  sp_stack_slice slice = {.base = 0x7f0000001000,
                          .bytes = words,
                          .size = sizeof words,
                          .whole = true};
  sp_unwinder *unwinder = NULL;
  sp_unwind_end end;
  size_t n;

  CHECK_EQUAL(sp_unwinder_new(&unwinder, &sp_mem_default), SPANPROF_OK);
  slice.registers.r[SP_REGISTER_PC] = (uint64_t)(uintptr_t)expressive;
  slice.registers.r[SP_REGISTER_SP] = slice.base;
  slice.registers.r[9] = 5;
  words[5] = slice.base + 10 * 8;                  /* CFA - 24 */
  words[12] = (uint64_t)(uintptr_t)check_same + 1; /* the return address */
  n = sp_unwinder_walk(unwinder, &slice, frames, FRAMES, &end);
  CHECK(n >= 2);
  CHECK_EQUAL(frame_of(unwinder, frames, 1, "expressive"), 0);
  CHECK_EQUAL(frames[1].pc, (uint64_t)(uintptr_t)check_same);
  CHECK_EQUAL(frame_of(unwinder, frames + 1, 1, "check_same"), 0);
  sp_unwinder_free(unwinder);
}
#endif

static void garbage_gives_some_stack(void) {
  sp_remote_unwind *remote = NULL;
  sp_module_list list;
  uint64_t seed = 7;
  int i;

  capture_begin(&taken);
  outer_function();
  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  CHECK_EQUAL(sp_remote_unwind_new(&remote, &list, &sp_mem_default),
              SPANPROF_OK);
  for (i = 0; i < 2000; i++) {
    sp_stack_slice slice = taken.slice;
    sp_unwind_end end;
    size_t n;

    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    slice.registers.r[(seed >> 33) % SP_REGISTER_COUNT] = seed;
    ((uint64_t *)(uintptr_t)taken.bytes)[(seed >> 40) % 256] += seed >> 52;
    slice.size = (seed >> 20) % (taken.slice.size + 1);
    n = sp_remote_unwind_walk(remote, &slice, pcs, FRAMES, &end);
    CHECK(n <= FRAMES);
  }
  sp_remote_unwind_free(remote);
  sp_module_list_dispose(&list);
}

/* After libunwind was loaded, its _Unwind_* functions do not take precedence
 * over libgcc's. */
static void libunwinds_symbols_stay_local(void) {
  Dl_info info;
  void *symbol = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");

  CHECK(!symbol ||
        (dladdr(symbol, &info) && strstr(info.dli_fname, "libunwind") == NULL));
}

static void remote_scenario(const sp_mem *mem) {
  sp_remote_unwind *remote = NULL;
  sp_module_list list;
  sp_unwind_end end;

  sp_module_list_init(&list, mem);
  if (sp_module_list_refresh(&list) == SPANPROF_OK &&
      sp_remote_unwind_new(&remote, &list, mem) == SPANPROF_OK)
    (void)sp_remote_unwind_walk(remote, &taken.slice, pcs, FRAMES, &end);
  sp_remote_unwind_free(remote);
  sp_module_list_dispose(&list);
}

static void a_remote_walk_survives_failed_allocations(void) {
  capture_begin(&taken);
  outer_function();
  failing_mem_sweep(remote_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"libunwind_agrees_on_a_copied_stack", libunwind_agrees_on_a_copied_stack},
    {"libunwind_agrees_through_a_signal_handler",
     libunwind_agrees_through_a_signal_handler},
    {"libunwind_agrees_where_the_slice_ends",
     libunwind_agrees_where_the_slice_ends},
#if defined(__x86_64__)
    {"an_expression_is_unwound_by_libunwind",
     an_expression_is_unwound_by_libunwind},
#endif
    {"garbage_gives_some_stack", garbage_gives_some_stack},
    {"libunwinds_symbols_stay_local", libunwinds_symbols_stay_local},
    {"a_remote_walk_survives_failed_allocations",
     a_remote_walk_survives_failed_allocations},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
