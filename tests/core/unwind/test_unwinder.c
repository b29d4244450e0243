#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

#include "failing_mem.h"
#include "unwind_fixture.h"

#define FRAMES 128

static capture taken;
static sp_native_frame frames[FRAMES];
static volatile unsigned kept;

static size_t walk(sp_unwinder *unwinder, sp_unwind_end *end) {
  return sp_unwinder_walk(unwinder, &taken.slice, frames, FRAMES, end);
}

static sp_unwinder *new_unwinder(void) {
  sp_unwinder *unwinder = NULL;

  CHECK_EQUAL(sp_unwinder_new(&unwinder, &sp_mem_default), SPANPROF_OK);
  return unwinder;
}

__attribute__((noinline)) static void inner_function(void) {
  capture_now();
  kept++;
}

__attribute__((noinline)) static void middle_function(unsigned size) {
  volatile char block[300];

  block[size] = 1;
  inner_function();
  kept += (unsigned)block[size];
}

__attribute__((noinline)) static void outer_function(void) {
  middle_function(7);
  kept++;
}

static void a_stack_has_its_functions_in_order(void) {
  sp_unwinder *unwinder = new_unwinder();
  const sp_module *module;
  sp_unwind_end end;
  int inner;
  size_t n;

  capture_begin(&taken);
  outer_function();
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_COMPLETE);
  inner = frame_of(unwinder, frames, n, "inner_function");
  CHECK(inner > 0);
  CHECK_EQUAL(frame_of(unwinder, frames, n, "middle_function"), inner + 1);
  CHECK_EQUAL(frame_of(unwinder, frames, n, "outer_function"), inner + 2);
  CHECK(frame_of(unwinder, frames, n, "main") > inner + 2);
  module = sp_unwinder_module(unwinder, frames[inner].module);
  CHECK(module && strstr(module->path, "test_unwinder"));
  CHECK(frames[inner].address >= module->start &&
        frames[inner].address < module->limit);
  CHECK(sp_unwinder_module(unwinder, 0) == NULL);
  sp_unwinder_free(unwinder);
}

static int compare_and_capture(const void *a, const void *b) {
  if (*(const int *)a == 3)
    capture_now();
  return *(const int *)a - *(const int *)b;
}

static void a_callback_is_unwound_through_its_library(void) {
  sp_unwinder *unwinder = new_unwinder();
  int numbers[] = {3, 1, 2};
  sp_unwind_end end;
  size_t n;

  capture_begin(&taken);
  qsort(numbers, 3, sizeof *numbers, compare_and_capture);
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_COMPLETE);
  CHECK(frame_of(unwinder, frames, n, "compare_and_capture") > 0);
  CHECK(frame_of(unwinder, frames, n, __func__) >
        frame_of(unwinder, frames, n, "compare_and_capture") + 1);
  sp_unwinder_free(unwinder);
}

static void handler_that_captures(int number) {
  inner_function();
  kept += (unsigned)number;
}

__attribute__((noinline)) static void interrupted_function(void) {
  raise(SIGUSR1);
  kept++;
}

/* After the kernel's frame, the next frame is at the interrupted pc, not at pc
 * - 1. */
static void a_signal_handler_leads_to_the_interrupted_code(void) {
  struct sigaction action = {.sa_handler = handler_that_captures};
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  int handler, interrupted;
  size_t n;

  sigaction(SIGUSR1, &action, NULL);
  capture_begin(&taken);
  interrupted_function();
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_COMPLETE);
  handler = frame_of(unwinder, frames, n, "handler_that_captures");
  interrupted = frame_of(unwinder, frames, n, "interrupted_function");
  CHECK(handler > 0);
  CHECK(interrupted > handler + 1);
  sp_unwinder_free(unwinder);
}

/* The handler runs on an alternate stack, and the slice, the copied part of the
 * stack, ends where the alternate stack ends. */
static void a_handler_on_its_own_stack_ends_at_the_interrupted_frame(void) {
  static char stack[65536];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  const stack_t none = {.ss_flags = SS_DISABLE};
  struct sigaction action = {.sa_handler = handler_that_captures,
                             .sa_flags = SA_ONSTACK};
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  int handler;
  size_t n;

  CHECK_EQUAL(sigaltstack(&alternate, NULL), 0);
  sigaction(SIGUSR1, &action, NULL);
  capture_begin(&taken);
  taken.stack_limit = (uint64_t)(uintptr_t)(stack + sizeof stack);
  interrupted_function();
  sigaltstack(&none, NULL);
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_CUT);
  handler = frame_of(unwinder, frames, n, "handler_that_captures");
  CHECK(handler > 0 && (size_t)handler + 3 == n);
  sp_unwinder_free(unwinder);
}

__attribute__((noinline)) static unsigned recurse(unsigned depth) {
  volatile char block[2000];

  block[depth] = (char)depth;
  if (depth == 0)
    capture_now();
  else
    kept += recurse(depth - 1);
  return (unsigned)block[depth];
}

static void a_stack_deeper_than_its_slice_is_cut(void) {
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  size_t n;

  capture_begin(&taken);
  recurse(100);
  CHECK(!taken.slice.whole);
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_CUT);
  CHECK(n > 25 && n < 60);
  CHECK_EQUAL(frame_of(unwinder, frames + n - 1, 1, "recurse"), 0);
  CHECK_EQUAL(sp_unwinder_walk(unwinder, &taken.slice, frames, 3, &end), 3);
  CHECK_EQUAL(end, SP_UNWIND_CUT);
  sp_unwinder_free(unwinder);
}

#if defined(__x86_64__)
/* The test generates code at run time: sub $24,%rsp; call *%rdi; add $24,%rsp;
 * ret. */
static void code_without_information_ends_the_stack(void) {
  static const unsigned char code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7,
                                       0x48, 0x83, 0xc4, 0x18, 0xc3};
  sp_unwinder *unwinder = new_unwinder();
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void (*run)(void (*function)(void));
  sp_unwind_end end;
  int inner;
  size_t n;

  CHECK(page != MAP_FAILED);
  memcpy(page, code, sizeof code);
  memcpy(&run, &page, sizeof run);
  capture_begin(&taken);
  run(inner_function);
  munmap(page, 4096);
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_NO_INFO);
  inner = frame_of(unwinder, frames, n, "inner_function");
  CHECK(inner > 0);
  CHECK_EQUAL(inner + 2, n);
  CHECK_EQUAL(frames[n - 1].module, 0);
  CHECK_EQUAL(frames[n - 1].address, (uint64_t)(uintptr_t)page + 5);
  sp_unwinder_free(unwinder);
}

/* Two hand-written functions without unwind information. */
void with_frame_pointer(void (*function)(void));
void without_frame_pointer(void (*function)(void));
__asm__(".text\n"
        ".type with_frame_pointer, @function\n"
        "with_frame_pointer: push %rbp; mov %rsp, %rbp; sub $80, %rsp\n"
        "call *%rdi; leave; ret\n"
        ".size with_frame_pointer, . - with_frame_pointer\n"
        ".type without_frame_pointer, @function\n"
        "without_frame_pointer: sub $40, %rsp; call *%rdi; add $40, %rsp; ret\n"
        ".size without_frame_pointer, . - without_frame_pointer\n");

static void a_frame_pointer_is_used_only_if_the_code_sets_it(void) {
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  int hand;
  size_t n;

  capture_begin(&taken);
  with_frame_pointer(inner_function);
  n = walk(unwinder, &end);
  hand = frame_of(unwinder, frames, n, "with_frame_pointer");
  CHECK(hand > 0);
  CHECK_EQUAL(frame_of(unwinder, frames, n, __func__), hand + 1);
  CHECK_EQUAL(end, SP_UNWIND_COMPLETE);

  capture_begin(&taken);
  without_frame_pointer(inner_function);
  n = walk(unwinder, &end);
  CHECK_EQUAL(frame_of(unwinder, frames, n, "without_frame_pointer"), n - 1);
  CHECK_EQUAL(end, SP_UNWIND_NO_INFO);
  sp_unwinder_free(unwinder);
}

/* Functions that begin like OpenBLAS's kernels and are interrupted inside. The
 * last one later moves its stack pointer in a way that its beginning does not
 * show. */
void saves_by_sp(void);
void saves_by_rbx(void);
void saves_and_moves(void);
#define SAVES_BEGIN                                      \
  "sub $96, %rsp; mov %rbx, (%rsp); mov %rbp, 8(%rsp)\n" \
  "mov %r12, 16(%rsp); xor %ebp, %ebp\n"
#define SAVES_END                            \
  "mov (%rsp), %rbx; mov 8(%rsp), %rbp\n"    \
  "mov 16(%rsp), %r12; add $96, %rsp; ret\n" \
  ".skip 80, 0x90\n"
__asm__(".text\n"
        ".type saves_by_sp, @function\n"
        "saves_by_sp: " SAVES_BEGIN "int3\n" SAVES_END
        ".size saves_by_sp, . - saves_by_sp\n"
        ".type saves_by_rbx, @function\n"
        "saves_by_rbx: " SAVES_BEGIN
        "mov %rsp, %rbx; sub $0x2080, %rsp; and $-4096, %rsp; int3\n"
        "mov %rbx, %rsp\n" SAVES_END ".size saves_by_rbx, . - saves_by_rbx\n"
        ".type saves_and_moves, @function\n"
        "saves_and_moves: " SAVES_BEGIN
        "lea saves_by_rbx(%rip), %rax; mov %rax, 88(%rsp)\n"
        "push %rax; int3; pop %rax\n" SAVES_END
        ".size saves_and_moves, . - saves_and_moves\n");

static size_t walk_from(sp_unwinder *unwinder, void (*function)(void),
                        sp_unwind_end *end) {
  struct sigaction trap = {.sa_sigaction = capture_on_signal,
                           .sa_flags = SA_SIGINFO};

  capture_begin(&taken);
  CHECK_EQUAL(sigaction(SIGTRAP, &trap, NULL), 0);
  function();
  return walk(unwinder, end);
}

static void saved_registers_lead_to_a_caller_that_calls(void) {
  static const struct {
    const char *name;
    void (*function)(void);
  } kernels[] = {{"saves_by_sp", saves_by_sp}, {"saves_by_rbx", saves_by_rbx}};
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  size_t i, n;

  for (i = 0; i < 2 * SP_COUNT_OF(kernels); i++) {
    n = walk_from(unwinder, kernels[i / 2].function, &end);
    CHECK_EQUAL(frame_of(unwinder, frames, n, kernels[i / 2].name), 0);
    CHECK_EQUAL(frame_of(unwinder, frames, n, "walk_from"), 1);
    CHECK_EQUAL(frame_of(unwinder, frames, n, __func__), 2);
    CHECK_EQUAL(end, SP_UNWIND_COMPLETE);
  }
  n = walk_from(unwinder, saves_and_moves, &end);
  CHECK_EQUAL(frame_of(unwinder, frames, n, "saves_and_moves"), 0);
  CHECK_EQUAL(n, 1);
  CHECK_EQUAL(end, SP_UNWIND_NO_INFO);
  sp_unwinder_free(unwinder);
}

/* A hand-written function of 1,000 instructions without unwind information. */
extern char without_information[];
__asm__(".text\n"
        ".globl without_information\n"
        ".type without_information, @function\n"
        "without_information: .skip 1000, 0x90\n"
        "ret\n"
        ".size without_information, . - without_information\n");

/* The test counts allocations, because opening a file allocates memory. */
static void code_without_information_opens_its_file_once(void) {
  const uint64_t word = 0;
  sp_stack_slice slice = {.base = 0x7f0000001000,
                          .bytes = &word,
                          .size = sizeof word,
                          .whole = true};
  sp_unwinder *unwinder = NULL;
  sp_unwind_end end;
  failing_mem mem;
  size_t requests, i;

  failing_mem_init(&mem, 0);
  CHECK_EQUAL(sp_unwinder_new(&unwinder, &mem.mem), SPANPROF_OK);
  slice.registers.r[SP_REGISTER_SP] = slice.base;
  for (i = 0; i < 1000; i++) {
    slice.registers.r[SP_REGISTER_PC] =
        (uint64_t)(uintptr_t)without_information + i;
    CHECK_EQUAL(sp_unwinder_walk(unwinder, &slice, frames, 2, &end), 1);
    CHECK_EQUAL(end, SP_UNWIND_NO_INFO);
    if (i == 0)
      requests = mem.requests;
  }
  CHECK_EQUAL(mem.requests, requests);
  sp_unwinder_free(unwinder);
  CHECK_EQUAL(mem.live, 0);
}

/* Walks from every instruction of a vDSO function, with the return address at
 * sp. */
static void an_entry_into_the_vdso_leads_to_its_caller(void) {
  sp_unwinder *unwinder = new_unwinder();
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  uint64_t pc, word[2] = {(uint64_t)(uintptr_t)inner_function + 1, 0};
  sp_stack_slice slice = {.base = 0x7f0000001000,
                          .bytes = word,
                          .size = sizeof word,
                          .whole = true};
  sp_unwind_end end;
  size_t named = 0;

  for (pc = vdso; vdso != 0 && pc < vdso + 4096; pc++) {
    const char *name;
    uint64_t start;

    slice.registers.r[SP_REGISTER_PC] = pc;
    slice.registers.r[SP_REGISTER_SP] = slice.base;
    if (sp_unwinder_walk(unwinder, &slice, frames, 2, &end) != 2 ||
        !sp_unwinder_symbol(unwinder, frames[0].module, frames[0].address,
                            &name, &start) ||
        start != frames[0].address)
      continue;
    CHECK_TEXT(sp_unwinder_module(unwinder, frames[0].module)->path, "[vdso]");
    CHECK_EQUAL(frame_of(unwinder, frames + 1, 1, "inner_function"), 0);
    named++;
  }
  /* No function is named if valgrind hides the vDSO. */
  CHECK(named > 0 || vdso == 0);
  sp_unwinder_free(unwinder);
}

extern char red_zone_leaf[], red_zone_saved[], red_zone_caller[];
__asm__(".text\n"
        ".type red_zone_leaf, @function\n"
        "red_zone_leaf: .cfi_startproc\n"
        "mov %rbp, -8(%rsp)\n"
        ".cfi_offset %rbp, -16\n"
        "red_zone_saved: xor %ebp, %ebp\n"
        "mov -8(%rsp), %rbp\n"
        ".cfi_restore %rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size red_zone_leaf, . - red_zone_leaf\n"
        ".type red_zone_caller, @function\n"
        "red_zone_caller: .cfi_startproc\n"
        ".cfi_def_cfa %rbp, 16\n"
        "nop; nop\n"
        ".cfi_endproc\n"
        ".size red_zone_caller, . - red_zone_caller\n"
        ".globl red_zone_leaf, red_zone_saved, red_zone_caller\n");

/* The leaf function saves its caller's frame pointer below sp, in the red zone,
 * and then changes the register. */
static void the_red_zone_is_read(void) {
  uint64_t words[18] = {0};
  sp_stack_slice slice = {.base = 0x7f0000001000,
                          .bytes = words,
                          .size = sizeof words,
                          .whole = true};
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  size_t n;

  slice.registers.r[SP_REGISTER_PC] = (uint64_t)(uintptr_t)red_zone_saved;
  slice.registers.r[SP_REGISTER_SP] = slice.base + 128;
  slice.registers.r[SP_REGISTER_FP] = 0;
  words[15] = slice.base + 128; /* the saved rbp */
  /* The return address of the leaf function. */
  words[16] = (uint64_t)(uintptr_t)red_zone_caller + 1;
  words[17] = (uint64_t)(uintptr_t)a_stack_has_its_functions_in_order + 1;
  n = sp_unwinder_walk(unwinder, &slice, frames, 3, &end);
  CHECK_EQUAL(n, 3);
  CHECK_EQUAL(frame_of(unwinder, frames, n, "red_zone_leaf"), 0);
  CHECK_EQUAL(frame_of(unwinder, frames, n, "red_zone_caller"), 1);
  CHECK_EQUAL(
      frame_of(unwinder, frames, n, "a_stack_has_its_functions_in_order"), 2);
  sp_unwinder_free(unwinder);
}
#endif

/* The walk stops before a return address that cannot be code. */
static void impossible_code_addresses_are_not_frames(void) {
  static const uint64_t none[] = {0x23, 0xffff, UINT64_MAX - 5};
  sp_unwinder *unwinder = new_unwinder();
  sp_unwind_end end;
  size_t n, i, k;
  int inner;

  capture_begin(&taken);
  outer_function();
  n = walk(unwinder, &end);
  inner = frame_of(unwinder, frames, n, "inner_function");
  CHECK(inner > 0);
  for (k = 0; k < taken.slice.size / 8; k++) {
    uint64_t *word = (uint64_t *)(uintptr_t)taken.bytes + k;

    if (*word != frames[inner].pc + 1)
      continue;
    for (i = 0; i < SP_COUNT_OF(none); i++) {
      *word = none[i];
      CHECK_EQUAL(walk(unwinder, &end), (size_t)inner);
      CHECK_EQUAL(end, SP_UNWIND_NO_INFO);
    }
    *word = taken.slice.base + 64;
    CHECK_EQUAL(walk(unwinder, &end), (size_t)inner);
    sp_unwinder_free(unwinder);
    return;
  }
  CHECK(!"the return address is on the stack");
}

/* Any pc of the process with any stack gives a result, short or long, and never
 * a fault. */
static void garbage_gives_some_stack(void) {
  sp_unwinder *unwinder = new_unwinder();
  static uint64_t words[64];
  uint64_t seed = 42;
  int i, k;

  capture_begin(&taken);
  outer_function();
  for (i = 0; i < 20000; i++) {
    sp_stack_slice slice = taken.slice;
    sp_unwind_end end;
    size_t n;

    for (k = 0; k < SP_REGISTER_COUNT + 64; k++) {
      uint64_t value;

      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
      value = seed >> 24;
      if (seed % 3 == 0) /* an address from a real stack, changed */
        value = ((uint64_t *)(uintptr_t)taken.bytes)[value % 64] + value % 4096;
      if (seed % 7 == 0)
        value = slice.base + value % 600;
      if (k < SP_REGISTER_COUNT)
        slice.registers.r[k] = value;
      else
        words[k - SP_REGISTER_COUNT] = value;
    }
    slice.bytes = words;
    slice.size = seed % (sizeof words + 1);
    slice.whole = i % 2;
    n = sp_unwinder_walk(unwinder, &slice, frames, FRAMES, &end);
    CHECK(n >= 1 && n <= FRAMES);
    CHECK_EQUAL(frames[0].pc, slice.registers.r[SP_REGISTER_PC]);
  }
  sp_unwinder_free(unwinder);
}

/* Count the addresses with a name in a library that has names for only some of
 * its code. */
static void addresses_with_a_name_are_known(void) {
  sp_unwinder *unwinder = new_unwinder();
  const sp_module *module;
  size_t named = 0, nameless = 0;
  uint64_t address, start;
  sp_unwind_end end;
  const char *name;
  size_t n, i;

  capture_begin(&taken);
  outer_function();
  n = walk(unwinder, &end);
  i = (size_t)frame_of(unwinder, frames, n, "main") + 1;
  CHECK(i < n);
  module = sp_unwinder_module(unwinder, frames[i].module);
  CHECK(strstr(module->path, "libc"));
  for (address = module->start; address < module->limit; address += 97) {
    const bool has_name =
        sp_unwinder_symbol(unwinder, frames[i].module, address, &name, &start);

    CHECK_EQUAL(sp_unwinder_named(unwinder, frames[i].module, address),
                has_name);
    named += has_name;
    nameless += !has_name;
  }
  CHECK(named > 0 && nameless > 0);
  CHECK(!sp_unwinder_named(unwinder, 0, frames[0].pc));
  sp_unwinder_free(unwinder);
}

/* When descriptors are available again, their earlier lack has no effect. */
static void a_temporary_lack_of_descriptors_is_recovered(void) {
  sp_unwinder *unwinder = new_unwinder();
  struct rlimit before, none;
  sp_unwind_end end;
  size_t n;

  capture_begin(&taken);
  outer_function();
  CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (n = 0; n < 10; n++) {
    walk(unwinder, &end);
    CHECK_EQUAL(end, SP_UNWIND_NO_INFO);
  }
  CHECK(!sp_unwinder_named(unwinder, frames[0].module, frames[0].address));
  CHECK(sp_unwinder_incomplete(unwinder, frames[0].module));
  sp_unwinder_close_files(unwinder);
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
  CHECK(!sp_unwinder_incomplete(unwinder, frames[0].module));
  n = walk(unwinder, &end);
  CHECK_EQUAL(end, SP_UNWIND_COMPLETE);
  CHECK(frame_of(unwinder, frames, n, "inner_function") > 0);
  CHECK(frame_of(unwinder, frames, n, "main") > 0);
  sp_unwinder_free(unwinder);
}

static void walk_scenario(const sp_mem *mem) {
  sp_unwinder *unwinder = NULL;
  sp_unwind_end end;
  const char *name;
  uint64_t start;

  if (sp_unwinder_new(&unwinder, mem) != SPANPROF_OK)
    return;
  CHECK(sp_unwinder_walk(unwinder, &taken.slice, frames, FRAMES, &end) >= 1);
  (void)sp_unwinder_symbol(unwinder, frames[0].module, frames[0].address, &name,
                           &start);
  (void)sp_unwinder_named(unwinder, frames[0].module, frames[0].address);
  sp_unwinder_free(unwinder);
}

static void a_walk_survives_failed_allocations(void) {
  capture_begin(&taken);
  outer_function();
  failing_mem_sweep(walk_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"a_stack_has_its_functions_in_order", a_stack_has_its_functions_in_order},
    {"a_callback_is_unwound_through_its_library",
     a_callback_is_unwound_through_its_library},
    {"a_signal_handler_leads_to_the_interrupted_code",
     a_signal_handler_leads_to_the_interrupted_code},
    {"a_handler_on_its_own_stack_ends_at_the_interrupted_frame",
     a_handler_on_its_own_stack_ends_at_the_interrupted_frame},
    {"a_stack_deeper_than_its_slice_is_cut",
     a_stack_deeper_than_its_slice_is_cut},
#if defined(__x86_64__)
    {"code_without_information_ends_the_stack",
     code_without_information_ends_the_stack},
    {"a_frame_pointer_is_used_only_if_the_code_sets_it",
     a_frame_pointer_is_used_only_if_the_code_sets_it},
    {"saved_registers_lead_to_a_caller_that_calls",
     saved_registers_lead_to_a_caller_that_calls},
    {"code_without_information_opens_its_file_once",
     code_without_information_opens_its_file_once},
    {"an_entry_into_the_vdso_leads_to_its_caller",
     an_entry_into_the_vdso_leads_to_its_caller},
    {"the_red_zone_is_read", the_red_zone_is_read},
#endif
    {"addresses_with_a_name_are_known", addresses_with_a_name_are_known},
    {"impossible_code_addresses_are_not_frames",
     impossible_code_addresses_are_not_frames},
    {"garbage_gives_some_stack", garbage_gives_some_stack},
    {"a_temporary_lack_of_descriptors_is_recovered",
     a_temporary_lack_of_descriptors_is_recovered},
    {"a_walk_survives_failed_allocations", a_walk_survives_failed_allocations},
  };

  kept += (unsigned)zlibVersion()[0];
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
