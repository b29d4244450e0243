#include "cfa_program.h"

#include "cfa_expression.h"
#include "dwarf_reader.h"
#include "registers.h"

/* Source: DWARF 5, table 7.29 and figure 6.4.2, "Call Frame Instructions". */
/* The operation is in the high 2 bits, its operand in the low 6. */
#define CFA_ADVANCE_LOC        0x40
#define CFA_OFFSET             0x80
#define CFA_RESTORE            0xc0
#define CFA_NOP                0x00
#define CFA_SET_LOC            0x01
#define CFA_ADVANCE_LOC1       0x02
#define CFA_ADVANCE_LOC2       0x03
#define CFA_ADVANCE_LOC4       0x04
#define CFA_OFFSET_EXTENDED    0x05
#define CFA_RESTORE_EXTENDED   0x06
#define CFA_UNDEFINED          0x07
#define CFA_SAME_VALUE         0x08
#define CFA_REGISTER           0x09
#define CFA_REMEMBER_STATE     0x0a
#define CFA_RESTORE_STATE      0x0b
#define CFA_DEF_CFA            0x0c
#define CFA_DEF_CFA_REGISTER   0x0d
#define CFA_DEF_CFA_OFFSET     0x0e
#define CFA_DEF_CFA_EXPRESSION 0x0f
#define CFA_EXPRESSION         0x10
#define CFA_OFFSET_EXTENDED_SF 0x11
#define CFA_DEF_CFA_SF         0x12
#define CFA_DEF_CFA_OFFSET_SF  0x13
#define CFA_VAL_OFFSET         0x14
#define CFA_VAL_OFFSET_SF      0x15
#define CFA_VAL_EXPRESSION     0x16
/* Extensions: LSB Core 5.0, §10.5.1.2, and the AArch64 DWARF ABI 2023Q3,
 * §4.3. */
#define CFA_AARCH64_NEGATE_RA_STATE 0x2d
#define CFA_GNU_ARGS_SIZE           0x2e
#define CFA_GNU_NEGATIVE_OFFSET     0x2f

/* Maximum depth of remembered states. Code of GCC and Clang nests one
 * level deep; hand-written assembly rarely nests two levels. */
#define PROGRAM_STATES_MAX 8

typedef struct program_state {
  const sp_cfa_program *program;
  /* NULL while the instructions of the CIE run. */
  const sp_unwind_rule *initial;
  sp_unwind_rule rule;
  sp_unwind_rule saved[PROGRAM_STATES_MAX];
  size_t saved_count;
  bool broken; /* the rule is unknown from this instruction on */
} program_state;

/* Pointers to the two fields of a register's slot. They are NULL for registers
 * that unwind rows do not describe, because only the function itself restores
 * them. */
typedef struct program_slot {
  uint8_t *kind;
  int32_t *offset;
} program_slot;

static program_slot program_slot_of(program_state *state, uint64_t number) {
  sp_unwind_rule *rule = &state->rule;

  if (number == SP_REGISTER_FP)
    return (program_slot){&rule->fp_kind, &rule->fp_offset};
  if (number == SP_REGISTER_SP)
    return (program_slot){&rule->sp_kind, &rule->sp_offset};
  if (number == state->program->return_register)
    return (program_slot){&rule->ra_kind, &rule->ra_offset};
  return (program_slot){NULL, NULL};
}

static bool program_fits(int64_t offset) {
  return offset >= INT32_MIN && offset <= INT32_MAX;
}

static void program_set(program_state *state, uint64_t number,
                        sp_slot_kind kind, int64_t offset) {
  program_slot slot = program_slot_of(state, number);

  if (!slot.kind)
    return;
  *slot.kind = program_fits(offset) ? (uint8_t)kind : SP_SLOT_UNSUPPORTED;
  *slot.offset =
      program_fits(offset) && kind != SP_SLOT_UNSUPPORTED ? (int32_t)offset : 0;
}

static void program_set_factored(program_state *state, uint64_t number,
                                 int64_t factored) {
  int64_t offset;

  if (__builtin_mul_overflow(factored, state->program->data_factor, &offset))
    offset = INT64_MAX;
  program_set(state, number, SP_SLOT_CFA, offset);
}

static void program_restore(program_state *state, uint64_t number) {
  const sp_unwind_rule *initial = state->initial;

  if (!initial) {
    state->broken = true;
  } else if (number == SP_REGISTER_FP) {
    state->rule.fp_kind = initial->fp_kind;
    state->rule.fp_offset = initial->fp_offset;
  } else if (number == SP_REGISTER_SP) {
    state->rule.sp_kind = initial->sp_kind;
    state->rule.sp_offset = initial->sp_offset;
  } else if (number == state->program->return_register) {
    state->rule.ra_kind = initial->ra_kind;
    state->rule.ra_offset = initial->ra_offset;
  }
}

static void program_cfa(program_state *state, sp_cfa_kind kind, uint64_t number,
                        int64_t offset, uint64_t plus) {
  sp_unwind_rule *rule = &state->rule;

  if (number >= SP_REGISTER_PC || !program_fits(offset) || plus > INT32_MAX)
    kind = SP_CFA_UNSUPPORTED;
  rule->cfa_kind = (uint8_t)kind;
  rule->cfa_register = kind == SP_CFA_UNSUPPORTED ? 0 : (uint8_t)number;
  rule->cfa_offset = kind == SP_CFA_UNSUPPORTED ? 0 : (int32_t)offset;
  rule->cfa_plus = kind == SP_CFA_UNSUPPORTED ? 0 : (int32_t)plus;
}

static void program_cfa_offset(program_state *state, int64_t offset) {
  sp_unwind_rule *rule = &state->rule;

  /* If the CFA is an expression or unknown, there is no offset to change. */
  if (rule->cfa_kind == SP_CFA_REGISTER)
    program_cfa(state, SP_CFA_REGISTER, rule->cfa_register, offset, 0);
  else
    program_cfa(state, SP_CFA_UNSUPPORTED, 0, 0, 0);
}

static void program_cfa_register(program_state *state, uint64_t number) {
  sp_unwind_rule *rule = &state->rule;

  if (rule->cfa_kind == SP_CFA_REGISTER)
    program_cfa(state, SP_CFA_REGISTER, number, rule->cfa_offset, 0);
  else
    program_cfa(state, SP_CFA_UNSUPPORTED, 0, 0, 0);
}

static void program_cfa_expression(program_state *state,
                                   sp_dwarf_reader *code) {
  sp_cfa_expression cfa;

  sp_cfa_expression_read(code, &cfa);
  program_cfa(state, cfa.kind, cfa.number, cfa.offset, cfa.plus);
}

static void program_expression(program_state *state, uint64_t number,
                               sp_dwarf_reader *code) {
  uint64_t base;
  int64_t offset;

  if (sp_cfa_expression_base(code, &base, &offset) &&
      sp_dwarf_remaining(code) == 0 && base == SP_REGISTER_FP)
    program_set(state, number, SP_SLOT_FP, offset);
  else
    program_set(state, number, SP_SLOT_UNSUPPORTED, 0);
}

/* Read the block of an expression and advance `code` past it. */
static sp_dwarf_reader program_block(sp_dwarf_reader *code) {
  const uint64_t size = sp_dwarf_uleb(code);
  const uint8_t *at = code->at;

  sp_dwarf_skip(code, size);
  return sp_dwarf_reader_of(at, code->failed ? 0 : (size_t)size, 0);
}

static void program_remember(program_state *state) {
  if (state->saved_count == PROGRAM_STATES_MAX)
    state->broken = true;
  else
    state->saved[state->saved_count++] = state->rule;
}

static void program_recall(program_state *state) {
  if (state->saved_count == 0)
    state->broken = true;
  else
    state->rule = state->saved[--state->saved_count];
}

/* Execute the instruction if it defines the CFA. Returns false for any other
 * instruction. */
static bool program_cfa_step(program_state *state, uint8_t opcode,
                             uint64_t number, sp_dwarf_reader *code) {
  uint64_t operand;

  switch (opcode) {
  case CFA_DEF_CFA:
    program_cfa(state, SP_CFA_REGISTER, number, (int64_t)sp_dwarf_uleb(code),
                0);
    return true;
  case CFA_DEF_CFA_SF:
    operand =
        (uint64_t)sp_dwarf_sleb(code) * (uint64_t)state->program->data_factor;
    program_cfa(state, SP_CFA_REGISTER, number, (int64_t)operand, 0);
    return true;
  case CFA_DEF_CFA_REGISTER:
    program_cfa_register(state, number);
    return true;
  default:
    return false;
  }
}

/* Execute the instruction if it is about a register whose number is not in the
 * opcode. Returns false for any other instruction. */
static bool program_register_step(program_state *state, uint8_t opcode,
                                  sp_dwarf_reader *code) {
  const uint64_t number = sp_dwarf_uleb(code);
  sp_dwarf_reader block;
  uint64_t operand;

  switch (opcode) {
  case CFA_OFFSET_EXTENDED:
    program_set_factored(state, number, (int64_t)sp_dwarf_uleb(code));
    return true;
  case CFA_OFFSET_EXTENDED_SF:
    program_set_factored(state, number, sp_dwarf_sleb(code));
    return true;
  case CFA_GNU_NEGATIVE_OFFSET:
    operand = sp_dwarf_uleb(code);
    program_set_factored(state, number, (int64_t)(0 - operand));
    return true;
  case CFA_RESTORE_EXTENDED:
    program_restore(state, number);
    return true;
  case CFA_UNDEFINED:
    program_set(state, number, SP_SLOT_UNDEFINED, 0);
    return true;
  case CFA_SAME_VALUE:
    program_set(state, number, SP_SLOT_SAME, 0);
    return true;
  case CFA_REGISTER:
    operand = sp_dwarf_uleb(code);
    program_set(state, number,
                operand < SP_REGISTER_PC ? SP_SLOT_REGISTER
                                         : SP_SLOT_UNSUPPORTED,
                (int64_t)operand);
    return true;
  case CFA_VAL_OFFSET:
  case CFA_VAL_OFFSET_SF:
    /* Only sp = CFA + 0 is supported, because it is the default. */
    operand = sp_dwarf_uleb(code);
    if (number != SP_REGISTER_SP || operand != 0)
      program_set(state, number, SP_SLOT_UNSUPPORTED, 0);
    return true;
  case CFA_EXPRESSION:
    block = program_block(code);
    program_expression(state, number, &block);
    return true;
  case CFA_VAL_EXPRESSION:
    program_block(code);
    program_set(state, number, SP_SLOT_UNSUPPORTED, 0);
    return true;
  default:
    return program_cfa_step(state, opcode, number, code);
  }
}

/* Execute any other instruction that changes the rule. After an unknown
 * instruction, the rule is unknown. */
static void program_step(program_state *state, uint8_t opcode,
                         sp_dwarf_reader *code) {
  sp_dwarf_reader whole = *code;
  sp_dwarf_reader block;

  switch (opcode) {
  case CFA_NOP:
  /* Ignored, because the signature of a return address is always removed. */
  case CFA_AARCH64_NEGATE_RA_STATE:
    break;
  case CFA_GNU_ARGS_SIZE:
    sp_dwarf_uleb(code);
    break;
  case CFA_REMEMBER_STATE:
    program_remember(state);
    break;
  case CFA_RESTORE_STATE:
    program_recall(state);
    break;
  case CFA_DEF_CFA_OFFSET:
    program_cfa_offset(state, (int64_t)sp_dwarf_uleb(code));
    break;
  case CFA_DEF_CFA_OFFSET_SF:
    program_cfa_offset(state, (int64_t)((uint64_t)sp_dwarf_sleb(code) *
                                        (uint64_t)state->program->data_factor));
    break;
  case CFA_DEF_CFA_EXPRESSION:
    block = program_block(code);
    program_cfa_expression(state, &block);
    break;
  default:
    if (!program_register_step(state, opcode, &whole))
      state->broken = true;
    *code = whole;
  }
}

/* Execute the instruction if it advances the pc. Returns false for any other
 * instruction. */
static bool program_advance(const sp_cfa_program *program, uint8_t opcode,
                            sp_dwarf_reader *code, uint64_t *pc) {
  uint64_t delta;

  if ((opcode & 0xc0) == CFA_ADVANCE_LOC) {
    delta = opcode & 0x3f;
  } else if (opcode == CFA_ADVANCE_LOC1) {
    delta = sp_dwarf_u8(code);
  } else if (opcode == CFA_ADVANCE_LOC2) {
    delta = sp_dwarf_u16(code);
  } else if (opcode == CFA_ADVANCE_LOC4) {
    delta = sp_dwarf_u32(code);
  } else if (opcode == CFA_SET_LOC) {
    *pc = sp_dwarf_pointer(code, program->pointer_encoding);
    return true;
  } else {
    return false;
  }
  *pc += delta * program->code_factor;
  return true;
}

static void program_any(program_state *state, uint8_t opcode,
                        sp_dwarf_reader *code) {
  if ((opcode & 0xc0) == CFA_OFFSET)
    program_set_factored(state, opcode & 0x3f, (int64_t)sp_dwarf_uleb(code));
  else if ((opcode & 0xc0) == CFA_RESTORE)
    program_restore(state, opcode & 0x3f);
  else
    program_step(state, opcode, code);
  if (code->failed)
    state->broken = true;
}

/* Convert the rule to a row in a canonical form, so that all rules that a row
 * cannot express have equal bytes. */
static sp_unwind_rule program_row(const program_state *state) {
  const sp_unwind_rule *rule = &state->rule;

  if (state->broken || rule->cfa_kind == SP_CFA_NONE ||
      rule->fp_kind == SP_SLOT_UNSUPPORTED ||
      rule->ra_kind == SP_SLOT_UNSUPPORTED ||
      rule->sp_kind == SP_SLOT_UNSUPPORTED ||
      rule->cfa_kind == SP_CFA_UNSUPPORTED)
    return (sp_unwind_rule){.cfa_kind = SP_CFA_UNSUPPORTED};
  return *rule;
}

void sp_cfa_program_begin(sp_cfa_program *program, const sp_cfa_code *code) {
  sp_dwarf_reader reader =
      sp_dwarf_reader_of(code->bytes, code->size, code->vaddr);
  program_state state = {.program = program};
  uint64_t pc = 0;

  while (sp_dwarf_remaining(&reader) > 0 && !state.broken) {
    const uint8_t opcode = sp_dwarf_u8(&reader);

    if (program_advance(program, opcode, &reader, &pc))
      state.broken = true; /* a CIE must not advance the pc */
    else
      program_any(&state, opcode, &reader);
  }
  program->initial = state.rule;
  if (state.broken)
    program->initial.cfa_kind = SP_CFA_UNSUPPORTED;
}

spanprof_status sp_cfa_program_run(const sp_cfa_program *program,
                                   const sp_cfa_code *code, uint64_t start,
                                   uint64_t limit, sp_unwind_rows *rows) {
  sp_dwarf_reader reader =
      sp_dwarf_reader_of(code->bytes, code->size, code->vaddr);
  program_state state = {.program = program,
                         .initial = &program->initial,
                         .rule = program->initial};
  spanprof_status st = SPANPROF_OK;
  uint64_t pc = start;
  sp_unwind_rule row;

  while (sp_dwarf_remaining(&reader) > 0 && !state.broken) {
    const uint8_t opcode = sp_dwarf_u8(&reader);
    uint64_t next = pc;

    if (!program_advance(program, opcode, &reader, &next)) {
      program_any(&state, opcode, &reader);
      continue;
    }
    row = program_row(&state);
    st = sp_unwind_rows_add(rows, pc, &row);
    if (st || next >= limit)
      return st;
    if (next < pc || reader.failed)
      state.broken = true;
    else
      pc = next;
  }
  row = program_row(&state);
  return sp_unwind_rows_add(rows, pc, &row);
}
