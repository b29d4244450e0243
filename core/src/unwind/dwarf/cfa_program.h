/* Executes the call frame instructions of a function and produces unwind rows
 * (unwind_rows.h). */
#ifndef SP_CFA_PROGRAM_H
#define SP_CFA_PROGRAM_H

#include "unwind_rows.h"

typedef struct sp_cfa_program {
  uint64_t code_factor;
  int64_t data_factor;
  uint64_t return_register;
  uint8_t pointer_encoding; /* encoding of the operand of DW_CFA_set_loc */
  sp_unwind_rule initial;   /* the rule that DW_CFA_restore restores */
} sp_cfa_program;

/* Instructions and their virtual address. */
typedef struct sp_cfa_code {
  const uint8_t *bytes;
  size_t size;
  uint64_t vaddr;
} sp_cfa_code;

/* Execute the instructions of a CIE, which set program->initial. */
void sp_cfa_program_begin(sp_cfa_program *program, const sp_cfa_code *code);

/* Execute the instructions of an FDE, which describe [start, limit), and add
 * the rows. After an instruction that rows cannot express, the rule is
 * SP_CFA_UNSUPPORTED. Returns the status of sp_unwind_rows_add(). */
spanprof_status sp_cfa_program_run(const sp_cfa_program *program,
                                   const sp_cfa_code *code, uint64_t start,
                                   uint64_t limit, sp_unwind_rows *rows);

#endif
