#include "cfa_expression.h"

#include "registers.h"

/* Source: DWARF 5, table 7.9, "DWARF operation encodings". */
#define OP_DEREF       0x06
#define OP_AND         0x1a
#define OP_PLUS        0x22
#define OP_PLUS_UCONST 0x23
#define OP_SHL         0x24
#define OP_GE          0x2a
#define OP_LIT0        0x30
#define OP_BREG0       0x70

bool sp_cfa_expression_base(sp_dwarf_reader *code, uint64_t *number,
                            int64_t *offset) {
  const uint8_t operation = sp_dwarf_u8(code);

  if (operation < OP_BREG0 || operation > OP_BREG0 + 31)
    return false;
  *number = operation - OP_BREG0;
  *offset = sp_dwarf_sleb(code);
  return !code->failed;
}

#if defined(__x86_64__)
/* Match the linkers' rule for .plt: sp + 8 + ((pc & 15) >= n) * 8. In the
 * second half of an entry, the stack has one more word. Source: binutils 2.40,
 * bfd/elfxx-x86.c, elf_x86_64_eh_frame_*_plt; LLD writes no such rule. */
static bool expression_plt(const sp_dwarf_reader *code, int32_t *entry_byte) {
  static const uint8_t head[] = {OP_BREG0 + SP_REGISTER_SP,
                                 8,
                                 OP_BREG0 + SP_REGISTER_PC,
                                 0,
                                 OP_LIT0 + 15,
                                 OP_AND};
  static const uint8_t tail[] = {OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS};
  const uint8_t *at = code->at;

  if (sp_dwarf_remaining(code) != sizeof head + 1 + sizeof tail)
    return false;
  if (memcmp(at, head, sizeof head) != 0 ||
      memcmp(at + sizeof head + 1, tail, sizeof tail) != 0)
    return false;
  *entry_byte = at[sizeof head] - OP_LIT0;
  return *entry_byte >= 0 && *entry_byte <= 15;
}
#endif

void sp_cfa_expression_read(sp_dwarf_reader *code, sp_cfa_expression *out) {
  uint64_t number, plus = 0;
  int64_t offset;

  *out = (sp_cfa_expression){.kind = SP_CFA_UNSUPPORTED};
#if defined(__x86_64__)
  int32_t entry_byte;

  if (expression_plt(code, &entry_byte)) {
    *out = (sp_cfa_expression){.kind = SP_CFA_PLT,
                               .number = SP_REGISTER_SP,
                               .plus = (uint64_t)entry_byte};
    return;
  }
#endif
  if (!sp_cfa_expression_base(code, &number, &offset) ||
      sp_dwarf_u8(code) != OP_DEREF)
    return;
  if (sp_dwarf_remaining(code) > 0)
    plus =
        sp_dwarf_u8(code) == OP_PLUS_UCONST ? sp_dwarf_uleb(code) : UINT64_MAX;
  if (!code->failed && sp_dwarf_remaining(code) == 0)
    *out = (sp_cfa_expression){
        .kind = SP_CFA_DEREF, .number = number, .offset = offset, .plus = plus};
}
