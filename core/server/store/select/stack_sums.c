#include "stack_sums.h"

#include <stdlib.h>
#include <string.h>

#include "sample_sums.h"
#include "server/model/sum.h"

static void sums_count(sp_stack_sum *sum) {
  if (sum->entry)
    sp_increase(&sum->count, sp_sample_count(sum->entry, sum->parts));
  sum->entry = NULL;
  sum->parts = 0;
}

spanprof_status sp_stack_sums_add(sp_stack_sums *sums,
                                  const sp_select_entry *entry, uint32_t source,
                                  const sp_block *block,
                                  const sp_block_sample *sample,
                                  uint32_t *number) {
  const int64_t *values = &block->values[sample->values];
  const size_t known = sums->stacks.count;
  sp_stack_sum *sum;
  spanprof_status st = sp_row_numbers_get(
      &sums->stacks, sums->mem, sample->stack, sums->count_max, number);

  if (!st)
    st = sp_mem_reserve(sums->mem, (void **)&sums->sums, &sums->capacity,
                        sums->stacks.count, sizeof *sums->sums);
  if (st)
    return st;
  if (*number == known)
    sums->sums[*number] = (sp_stack_sum){0};
  sum = &sums->sums[*number];
  if (sum->source != source)
    sums_count(sum);
  sum->entry = entry;
  sum->source = source;
  sp_increase(&sum->value, values[entry->type]);
  sp_increase(&sum->parts, sp_sample_part(entry, values));
  if (entry->counts == SP_SELECT_NO_COUNTS && entry->period <= 0)
    sums->is_uncounted = true;
  return SPANPROF_OK;
}

void sp_stack_sums_end(sp_stack_sums *sums) {
  size_t i;

  for (i = 0; i < sums->stacks.count && i < sums->capacity; i++)
    sums_count(&sums->sums[i]);
}

static int sums_compare(const void *a_of, const void *b_of) {
  const sp_row_id *a = a_of, *b = b_of;

  return *a < *b ? -1 : *a > *b;
}

spanprof_status sp_stack_sums_halve(sp_stack_sums *sums, sp_row_id *lowest) {
  const size_t count = sums->stacks.count;
  sp_row_id *ids = sp_mem_new(sums->mem, (count + 1) * sizeof *ids);
  spanprof_status st = SPANPROF_OK;
  uint32_t number;
  size_t i;

  if (!ids)
    return SPANPROF_ERR_NOMEM;
  memcpy(ids, sums->stacks.ids, count * sizeof *ids);
  qsort(ids, count, sizeof *ids, sums_compare);
  *lowest = ids[count / 2];
  memcpy(ids, sums->stacks.ids, count * sizeof *ids);
  sp_row_numbers_clear(&sums->stacks);
  for (i = 0; !st && i < count; i++) {
    if (ids[i] < *lowest)
      continue;
    st = sp_row_numbers_get(&sums->stacks, sums->mem, ids[i], sums->count_max,
                            &number);
    if (!st)
      sums->sums[number] = sums->sums[i];
  }
  sp_mem_free(sums->mem, ids);
  return st;
}

void sp_stack_sums_clear(sp_stack_sums *sums) {
  sp_row_numbers_clear(&sums->stacks);
}

void sp_stack_sums_dispose(sp_stack_sums *sums) {
  sp_row_numbers_dispose(&sums->stacks, sums->mem);
  sp_mem_free(sums->mem, sums->sums);
  sums->sums = NULL;
}
