/* The unwind rules of a module by pc, four bytes per row. Each distinct rule is
 * stored once, because rules are few and repeat often. */
#ifndef SP_UNWIND_ROWS_H
#define SP_UNWIND_ROWS_H

#include "util/memory/mem.h"

typedef enum sp_cfa_kind {
  SP_CFA_NONE,     /* no unwind information */
  SP_CFA_REGISTER, /* register + offset */
  SP_CFA_DEREF,    /* the word at register + offset, plus `cfa_plus` */
  /* Sp + 8, or sp + 16 from byte `cfa_plus` of the entry on. */
  SP_CFA_PLT,
  SP_CFA_SIGNAL,      /* the kernel's signal frame is at sp */
  SP_CFA_UNSUPPORTED, /* a row cannot express it */
} sp_cfa_kind;

typedef enum sp_slot_kind {
  SP_SLOT_SAME,        /* not saved */
  SP_SLOT_CFA,         /* saved at cfa + offset */
  SP_SLOT_FP,          /* saved at frame pointer + offset */
  SP_SLOT_REGISTER,    /* in the register whose DWARF number is the offset */
  SP_SLOT_UNDEFINED,   /* lost; for the return address: outermost frame */
  SP_SLOT_UNSUPPORTED, /* a row cannot express it */
} sp_slot_kind;

typedef struct sp_unwind_rule {
  int32_t cfa_offset;
  int32_t cfa_plus;
  int32_t fp_offset; /* slot of the caller's frame pointer */
  int32_t ra_offset; /* slot of the return address */
  int32_t sp_offset; /* slot of the caller's sp; by default sp is the CFA */
  uint8_t cfa_kind;
  uint8_t cfa_register; /* DWARF number */
  uint8_t fp_kind;
  uint8_t ra_kind;
  uint8_t sp_kind;
  uint8_t unused[3]; /* 0: rules are compared as bytes */
} sp_unwind_rule;

typedef struct sp_unwind_rows {
  const sp_mem *mem;
  uint64_t base; /* pc of the first row; ELF virtual address */
  /* Low 16 bits of each row's distance from `base`; a row extends to the next
   * one. */
  uint16_t *lows;
  /* By the high 16 bits: the first row with these or larger high bits. */
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
  /* While rows are added: hash table of the rules, chained. */
  uint16_t *buckets;
  uint16_t *chain;
  size_t chain_capacity;
  uint16_t begins; /* flag of the next row */
} sp_unwind_rows;

void sp_unwind_rows_init(sp_unwind_rows *rows, const sp_mem *mem);
void sp_unwind_rows_dispose(sp_unwind_rows *rows);

/* Mark the next added row as the beginning of a function. */
void sp_unwind_rows_begin(sp_unwind_rows *rows);

/* Add a row: code from `pc` on follows `rule`. `pc` is not below that of the
 * last row; if it is equal, the new row replaces the last one.
 * SPANPROF_ERR_NOMEM. SPANPROF_ERR_LIMIT: more than 4 GiB of code. */
spanprof_status sp_unwind_rows_add(sp_unwind_rows *rows, uint64_t pc,
                                   const sp_unwind_rule *rule);

/* Free the memory that only sp_unwind_rows_add() needs. */
void sp_unwind_rows_seal(sp_unwind_rows *rows);

/* The ELF virtual address at which a row begins; `index` is less than the
 * count. */
uint64_t sp_unwind_rows_pc(const sp_unwind_rows *rows, uint32_t index);

/* The rule at an ELF virtual address; its kind is SP_CFA_NONE if there is none.
 * Valid until the rows are disposed of. */
const sp_unwind_rule *sp_unwind_rows_find(const sp_unwind_rows *rows,
                                          uint64_t pc);

/* Find the start of the function that contains an ELF virtual address. Returns
 * false if it has no unwind information. */
bool sp_unwind_rows_function(const sp_unwind_rows *rows, uint64_t pc,
                             uint64_t *start);

#endif
