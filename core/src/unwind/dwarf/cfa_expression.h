/* Parses those DWARF expressions of call frame instructions that unwind rows
 * (unwind_rows.h) can express. */
#ifndef SP_CFA_EXPRESSION_H
#define SP_CFA_EXPRESSION_H

#include "dwarf_reader.h"
#include "unwind_rows.h"

typedef struct sp_cfa_expression {
  sp_cfa_kind kind; /* SP_CFA_UNSUPPORTED if rows cannot express it */
  uint64_t number;  /* DWARF number of the register */
  int64_t offset;
  uint64_t plus;
} sp_cfa_expression;

/* Read an expression for the CFA. Rows can express two forms: the rule of the
 * linkers for the PLT, and "the word at register + offset, plus a constant",
 * which occurs with realigned stacks (GCC) and in hand-written vector code
 * (OpenSSL). */
void sp_cfa_expression_read(sp_dwarf_reader *code, sp_cfa_expression *out);

/* Read the operation `breg<number> offset`, but not what follows it. Returns
 * false for any other operation. */
bool sp_cfa_expression_base(sp_dwarf_reader *code, uint64_t *number,
                            int64_t *offset);

#endif
