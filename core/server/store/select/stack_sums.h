/* The sum of each selected stack. */
#ifndef SP_STACK_SUMS_H
#define SP_STACK_SUMS_H

#include "row_numbers.h"
#include "select.h"

/* The sum of one stack. sp_sample_count() counts the samples of a source when
 * all its blocks have been read. */
typedef struct sp_stack_sum {
  int64_t value;
  int64_t count;                /* number of samples of the sources before the
                                 * current one */
  int64_t parts;                /* sum of sp_sample_part() for the current
                                 * source's samples */
  const sp_select_entry *entry; /* the entry of the samples in `parts`; NULL:
                                 * none */
  uint32_t source;
} sp_stack_sum;

typedef struct sp_stack_sums {
  const sp_mem *mem;
  size_t count_max; /* most stacks */
  sp_row_numbers stacks;
  sp_stack_sum *sums; /* the sum of each number in `stacks` */
  size_t capacity;
  bool is_uncounted; /* a sample's profile has neither counts nor a period */
} sp_stack_sums;

/* Add a sample of the source `source`, and get the number of its stack. Returns
 * SPANPROF_ERR_LIMIT if there are already `count_max` stacks, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_stack_sums_add(sp_stack_sums *sums,
                                  const sp_select_entry *entry, uint32_t source,
                                  const sp_block *block,
                                  const sp_block_sample *sample,
                                  uint32_t *number);

/* Count the samples of the last source. Call this after the last sample, while
 * the entries are still valid. */
void sp_stack_sums_end(sp_stack_sums *sums);

/* Remove the half of the stacks that has the lowest ids. *lowest is set to the
 * lowest id that is kept. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_stack_sums_halve(sp_stack_sums *sums, sp_row_id *lowest);

void sp_stack_sums_clear(sp_stack_sums *sums); /* keeps the memory */
void sp_stack_sums_dispose(sp_stack_sums *sums);

#endif
