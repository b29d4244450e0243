/* The DWARF expressions of call frame instructions that rows can hold. */
#ifndef SP_CFA_EXPRESSION_H
#define SP_CFA_EXPRESSION_H

#include "dwarf_reader.h"
#include "unwind_rows.h"

typedef struct sp_cfa_expression {
  sp_cfa_kind kind; /* SP_CFA_UNSUPPORTED: some other expression */
  uint64_t number;  /* of the register */
  int64_t offset;
  uint64_t plus;
} sp_cfa_expression;

/* Read an expression for the CFA. Two are worth a rule of their own: the PLT's,
 * and "the word at register + offset, plus a constant", which realigned stacks
 * (GCC) and hand-written vector code (OpenSSL) have. */
void sp_cfa_expression_read(sp_dwarf_reader *code, sp_cfa_expression *out);

/* `breg<number> offset`; leaves what follows. False: another operation. */
bool sp_cfa_expression_base(sp_dwarf_reader *code, uint64_t *number,
                            int64_t *offset);

#endif
