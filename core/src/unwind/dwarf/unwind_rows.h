/* How to unwind from every pc of one module: four bytes a row. The rules, few
 * and much repeated, are kept once each. */
#ifndef SP_UNWIND_ROWS_H
#define SP_UNWIND_ROWS_H

#include "util/memory/mem.h"

typedef enum sp_cfa_kind {
  SP_CFA_NONE,        /* no unwind information */
  SP_CFA_REGISTER,    /* register + offset */
  SP_CFA_DEREF,       /* the word at register + offset, plus `cfa_plus` */
  SP_CFA_PLT,         /* sp + 8, or sp + 16 from entry byte `cfa_plus` on */
  SP_CFA_SIGNAL,      /* the kernel's signal frame lies at sp */
  SP_CFA_UNSUPPORTED, /* more than a row can say */
} sp_cfa_kind;

typedef enum sp_slot_kind {
  SP_SLOT_SAME,        /* not saved */
  SP_SLOT_CFA,         /* saved at cfa + offset */
  SP_SLOT_FP,          /* saved at frame pointer + offset */
  SP_SLOT_REGISTER,    /* in the register whose DWARF number is the offset */
  SP_SLOT_UNDEFINED,   /* lost; of the return address: outermost frame */
  SP_SLOT_UNSUPPORTED, /* more than a row can say */
} sp_slot_kind;

typedef struct sp_unwind_rule {
  int32_t cfa_offset;
  int32_t cfa_plus;
  int32_t fp_offset; /* of the caller's frame pointer's slot */
  int32_t ra_offset; /* of the return address's */
  int32_t sp_offset; /* of the caller's sp's, which else is the CFA */
  uint8_t cfa_kind;
  uint8_t cfa_register; /* DWARF number */
  uint8_t fp_kind;
  uint8_t ra_kind;
  uint8_t sp_kind;
  uint8_t unused[3]; /* 0: rules are compared as bytes */
} sp_unwind_rule;

typedef struct sp_unwind_rows {
  const sp_mem *mem;
  uint64_t base;    /* pc of the first row; ELF virtual address */
  uint16_t *lows;   /* of each row's distance from it, the lower half; each row
                     * reaches to the next */
  uint32_t *blocks; /* by upper half: the first row that has it, or a larger
                     * one */
  uint16_t *places; /* of each row's rule in `rules`, and whether a function
                     * begins with the row */
  sp_unwind_rule *rules;
  uint32_t count;
  uint32_t block_count;
  uint32_t rule_count;
  size_t low_capacity;
  size_t block_capacity;
  size_t place_capacity;
  size_t rule_capacity;
  /* While rows are added: rules by hash, chained. */
  uint16_t *buckets;
  uint16_t *chain;
  size_t chain_capacity;
  uint16_t begins; /* of the next row */
} sp_unwind_rows;

void sp_unwind_rows_init(sp_unwind_rows *rows, const sp_mem *mem);
void sp_unwind_rows_dispose(sp_unwind_rows *rows);

/* A function begins with the next row that is added. */
void sp_unwind_rows_begin(sp_unwind_rows *rows);

/* Rows from `pc` on follow `rule`; `pc` is not below the last one's, and
 * replaces it where it is the same. SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT:
 * more than 4 GiB of code. */
spanprof_status sp_unwind_rows_add(sp_unwind_rows *rows, uint64_t pc,
                                   const sp_unwind_rule *rule);

/* Give back what only adding needed. */
void sp_unwind_rows_seal(sp_unwind_rows *rows);

/* Where a row begins, an ELF virtual address; `index` is below the count. */
uint64_t sp_unwind_rows_pc(const sp_unwind_rows *rows, uint32_t index);

/* The rule at an ELF virtual address; its kind is SP_CFA_NONE where there is
 * none. Valid until the rows are disposed of. */
const sp_unwind_rule *sp_unwind_rows_find(const sp_unwind_rows *rows,
                                          uint64_t pc);

/* The start of the function around an ELF virtual address; false: it has no
 * unwind information. */
bool sp_unwind_rows_function(const sp_unwind_rows *rows, uint64_t pc,
                             uint64_t *start);

#endif
