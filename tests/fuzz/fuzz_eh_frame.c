/* Reads the input as an .eh_frame section, and applies the resulting rules to a
 * stack that has the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/dwarf/eh_frame.h"
#include "unwind/frame_step.h"

#define FUZZ_VADDR UINT64_C(0x10000)
#define FUZZ_STACK UINT64_C(0x7f0000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check a property that every result must have. */
static void fuzz_must(bool promise) {
  if (!promise)
    abort();
}

static void fuzz_steps(const sp_unwind_rows *rows, const uint8_t *data,
                       size_t size) {
  sp_stack_slice slice = {.base = FUZZ_STACK, .size = size & ~(size_t)7};
  uint32_t i;

  slice.bytes = data;
  for (i = 0; i < rows->count; i++) {
    const uint64_t pc = sp_unwind_rows_pc(rows, i);
    sp_frame_state state;
    int steps;

    fuzz_must(i == 0 || pc > sp_unwind_rows_pc(rows, i - 1));
    for (steps = 0; steps < SP_REGISTER_COUNT; steps++)
      slice.registers.r[steps] = FUZZ_STACK + 8 * (uint64_t)steps;
    slice.registers.r[SP_REGISTER_PC] = pc;
    sp_frame_state_init(&state, &slice);
    for (steps = 0; steps < 8; steps++)
      if (sp_frame_step(&state, sp_unwind_rows_find(rows, pc)) !=
          SP_STEP_CALLER)
        break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const sp_eh_frame frame = {data, size, FUZZ_VADDR, 1, UINT64_MAX};
  sp_unwind_rule rule;
  sp_unwind_rows rows;

  sp_unwind_rows_init(&rows, &sp_mem_default);
  if (sp_eh_frame_rows(&frame, &rows) == SPANPROF_OK)
    fuzz_steps(&rows, data, size);
  fuzz_must(sp_unwind_rows_find(&rows, UINT64_MAX) != NULL);
  sp_unwind_rows_dispose(&rows);
  if (size > 2)
    (void)sp_frame_rule_guess(data + 2, size - 2, data[0], data[1] & 1, &rule);
  return 0;
}
