/* Tests which functions of this program may have been entered by a tail call.
 * The functions are written in assembly, so that the compiler changes nothing.
 */
#include "check.h"
#include "unwind/frame_step.h"
#include "unwind/module_list.h"

#if defined(__x86_64__)
#define JUMP        "jmp "
#define FRAME_BYTES "16"
#else
#define JUMP        "b "
#define FRAME_BYTES "16"
#endif

/* A function that jumps to the start of called(), one that nobody jumps to, and
 * one with a part in another section. */
__asm__(".text\n"
        ".globl jumps\n.type jumps, %function\n"
        "jumps:\n.cfi_startproc\n" JUMP "called\n.cfi_endproc\n"
        ".size jumps, .-jumps\n"
        ".globl called\n.type called, %function\n"
        "called:\n.cfi_startproc\nnop\nret\n.cfi_endproc\n"
        ".size called, .-called\n"
        ".globl alone\n.type alone, %function\n"
        "alone:\n.cfi_startproc\nnop\n"
        "1: nop\n" JUMP "1b\n.cfi_endproc\n"
        ".size alone, .-alone\n"
        ".globl divided\n.type divided, %function\n"
        "divided:\n.cfi_startproc\nnop\n"
        ".cfi_def_cfa_offset " FRAME_BYTES "\n"
        "nop\n" JUMP "divided_part\n.cfi_endproc\n"
        ".size divided, .-divided\n"
        ".section .text.unlikely,\"ax\",%progbits\n"
        ".globl divided_part\n.type divided_part, %function\n"
        "divided_part:\n.cfi_startproc\n"
        ".cfi_def_cfa_offset " FRAME_BYTES "\n"
        "nop\nnop\n" JUMP "divided\n.cfi_endproc\n"
        ".size divided_part, .-divided_part\n"
        ".text\n");

void jumps(void), called(void), alone(void), divided(void), divided_part(void);

static sp_module_list modules;

/* Find the function at a distance from the start of another one. */
static bool function_find(void (*function)(void), uint64_t distance,
                          uint64_t *start) {
  const uint64_t address = (uint64_t)(uintptr_t)function + distance;
  const sp_mapping *mapping = sp_module_list_find(&modules, address);

  CHECK(mapping);
  if (!sp_module_entry_function(sp_module_list_get(&modules, mapping->module),
                                address - mapping->bias, start))
    return false;
  *start += mapping->bias;
  return true;
}

static void check_function(void (*function)(void), uint64_t distance,
                           void (*expected)(void)) {
  uint64_t start;

  CHECK(function_find(function, distance, &start));
  CHECK_EQUAL(start, (uint64_t)(uintptr_t)expected);
}

static void a_function_that_is_only_called_is_found(void) {
  check_function(jumps, 0, jumps);
  check_function(alone, 1, alone);
}

static void a_function_behind_a_tail_call_is_not_found(void) {
  uint64_t start;

  CHECK(!function_find(called, 0, &start));
  CHECK(!function_find(called, 1, &start));
}

static void a_part_belongs_to_the_only_function_that_jumps_to_it(void) {
  check_function(divided, 1, divided);
  check_function(divided_part, 1, divided);
}

#if defined(__x86_64__)
static void a_call_by_a_pointer_is_recognized(void) {
  static const struct {
    uint8_t code[SP_FRAME_CALL_BYTES];
    bool by_pointer;
  } cases[] = {
      {{0, 0, 0, 0, 0, 0xff, 0xd0}, true},          /* call *%rax */
      {{0, 0, 0, 0, 0x41, 0xff, 0xd4}, true},       /* call *%r12 */
      {{0, 0, 0, 0, 0, 0xff, 0x10}, true},          /* call *(%rax) */
      {{0, 0, 0, 0, 0xff, 0x50, 0x30}, true},       /* call *0x30(%rax) */
      {{0, 0, 0, 0xff, 0x54, 0x24, 8}, true},       /* call *8(%rsp) */
      {{0, 0xff, 0x90, 0xa0, 0, 0, 0}, true},       /* call *0xa0(%rax) */
      {{0, 0, 0, 0, 0xff, 0x14, 0xc8}, true},       /* call *(%rax,%rcx,8) */
      {{0, 0, 0xe8, 1, 2, 3, 0}, false},            /* call rel32 */
      {{0, 0, 0xe8, 1, 0xff, 0x50, 0}, false},      /* the same */
      {{0, 0, 0xe8, 1, 2, 0xff, 0xff}, false},      /* the same */
      {{0, 0xff, 0x15, 1, 2, 3, 0}, false},         /* call *GOT(%rip) */
      {{0, 0xff, 0x15, 0x10, 0xff, 0x50, 0}, false} /* the same */
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++)
    CHECK_EQUAL(sp_frame_code_calls_pointer(cases[i].code),
                cases[i].by_pointer);
}
#endif

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"a_function_that_is_only_called_is_found",
     a_function_that_is_only_called_is_found},
    {"a_function_behind_a_tail_call_is_not_found",
     a_function_behind_a_tail_call_is_not_found},
    {"a_part_belongs_to_the_only_function_that_jumps_to_it",
     a_part_belongs_to_the_only_function_that_jumps_to_it},
#if defined(__x86_64__)
    {"a_call_by_a_pointer_is_recognized", a_call_by_a_pointer_is_recognized},
#endif
  };

  sp_module_list_init(&modules, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&modules), SPANPROF_OK);
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
