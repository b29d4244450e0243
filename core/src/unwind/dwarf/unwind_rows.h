/* The unwind rules of a module by pc, with four bytes per row. Each distinct
 * rule is stored once, because there are few rules and they repeat often. */
#ifndef SP_UNWIND_ROWS_H
#define SP_UNWIND_ROWS_H

#include "util/memory/mem.h"

typedef enum sp_cfa_kind {
  SP_CFA_NONE,     /* the code has no unwind information */
  SP_CFA_REGISTER, /* the CFA is register + offset */
  /* The CFA is the word at register + offset, plus `cfa_plus`. */
  SP_CFA_DEREF,
  /* The CFA is sp + 8, or sp + 16 from byte `cfa_plus` of a PLT entry on. */
  SP_CFA_PLT,
  /* The frame that the kernel creates for a signal handler is at sp. */
  SP_CFA_SIGNAL,
  SP_CFA_UNSUPPORTED, /* a row cannot express the rule */
} sp_cfa_kind;

typedef enum sp_slot_kind {
  SP_SLOT_SAME, /* not saved: the register is unchanged, or sp is the CFA */
  SP_SLOT_CFA,  /* saved at CFA + offset */
  SP_SLOT_FP,   /* saved at frame pointer + offset */
  /* In the register that has the offset as its DWARF number. */
  SP_SLOT_REGISTER,
  /* Lost; for the return address: this is the outermost frame. */
  SP_SLOT_UNDEFINED,
  SP_SLOT_UNSUPPORTED, /* a row cannot express the place */
} sp_slot_kind;

typedef struct sp_unwind_rule {
  int32_t cfa_offset;
  int32_t cfa_plus;
  int32_t fp_offset; /* offset of the caller's frame pointer, for `fp_kind` */
  int32_t ra_offset; /* offset of the return address, for `ra_kind` */
  /* offset of the caller's sp, for `sp_kind` */
  int32_t sp_offset;
  uint8_t cfa_kind;
  uint8_t cfa_register; /* DWARF number */
  uint8_t fp_kind;
  uint8_t ra_kind;
  uint8_t sp_kind;
  uint8_t unused[3]; /* always 0, because rules are compared as bytes */
} sp_unwind_rule;

typedef struct sp_unwind_rows {
  const sp_mem *mem;
  uint64_t base; /* pc of the first row, as an ELF virtual address */
  /* Low 16 bits of each row's distance from `base`. A row extends to the next
   * one. */
  uint16_t *lows;
  /* Index by the high 16 bits of the distance: the first row in this or a later
   * block of 64 KiB. */
  uint32_t *blocks;
  /* Index of each row's rule in `rules`, and whether a function begins with the
   * row. */
  uint16_t *places;
  sp_unwind_rule *rules;
  uint32_t count;
  uint32_t block_count;
  uint32_t rule_count;
  size_t low_capacity;
  size_t block_capacity;
  size_t place_capacity;
  size_t rule_capacity;
  /* Used only while rows are added: a hash table of the rules, with
   * chaining. */
  uint16_t *buckets;
  uint16_t *chain;
  size_t chain_capacity;
  uint16_t begins; /* flag of the next row that is added */
} sp_unwind_rows;

void sp_unwind_rows_init(sp_unwind_rows *rows, const sp_mem *mem);
void sp_unwind_rows_dispose(sp_unwind_rows *rows);

/* Mark the next added row as the beginning of a function. */
void sp_unwind_rows_begin(sp_unwind_rows *rows);

/* Add a row: code at `pc` and after it follows `rule`. `pc` is not below that
 * of the last row; if it is equal, the new row replaces the last one. Returns
 * SPANPROF_ERR_LIMIT if the module has more than 4 GiB of code, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_unwind_rows_add(sp_unwind_rows *rows, uint64_t pc,
                                   const sp_unwind_rule *rule);

/* Free the memory that only sp_unwind_rows_add() needs. */
void sp_unwind_rows_seal(sp_unwind_rows *rows);

/* The ELF virtual address at which a row begins; `index` is less than the
 * count. */
uint64_t sp_unwind_rows_pc(const sp_unwind_rows *rows, uint32_t index);

/* The rule at an ELF virtual address. Its `cfa_kind` is SP_CFA_NONE if there is
 * no rule. Valid until the rows are disposed of. */
const sp_unwind_rule *sp_unwind_rows_find(const sp_unwind_rows *rows,
                                          uint64_t pc);

/* Find the start of the function that contains an ELF virtual address. Returns
 * false if the address has no unwind information. */
bool sp_unwind_rows_function(const sp_unwind_rows *rows, uint64_t pc,
                             uint64_t *start);

/* Find the start and the end of the function that contains an ELF virtual
 * address. Returns false if the address has no unwind information. */
bool sp_unwind_rows_bounds(const sp_unwind_rows *rows, uint64_t pc,
                           uint64_t *start, uint64_t *end);

/* Is this the rule at the entry of a function, where the function has not
 * stored anything on the stack yet? */
bool sp_unwind_rule_enters(const sp_unwind_rule *rule);

#endif
