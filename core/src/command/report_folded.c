#include "report_folded.h"

#include "../util/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sp_report_folded_init(sp_report_folded *folded, const sp_report *report,
                           FILE *out) {
  memset(folded, 0, sizeof *folded);
  folded->report = report;
  folded->out = out;
  folded->numbers_max = SP_REPORT_FOLDED_MAX;
}

void sp_report_folded_dispose(sp_report_folded *folded) {
  const sp_mem *mem = folded->report->mem;

  sp_mem_free(mem, folded->stacks);
  sp_mem_free(mem, folded->numbers);
  sp_index_dispose(&folded->index, mem);
  sp_report_folded_init(folded, folded->report, folded->out);
}

static spanprof_status folded_add(sp_report_folded *folded, uint64_t hash,
                                  const uint32_t *functions, size_t count,
                                  int64_t value) {
  const sp_mem *mem = folded->report->mem;
  spanprof_status st =
      sp_mem_reserve(mem, (void **)&folded->numbers, &folded->number_capacity,
                     folded->number_count + count, sizeof *folded->numbers);

  if (st == SPANPROF_OK)
    st = sp_mem_reserve(mem, (void **)&folded->stacks, &folded->stack_capacity,
                        folded->stack_count + 1, sizeof *folded->stacks);
  if (st == SPANPROF_OK)
    st = sp_index_reserve(&folded->index, mem);
  if (st != SPANPROF_OK)
    return sp_fail(st, "out of memory");
  memcpy(folded->numbers + folded->number_count, functions,
         count * sizeof *functions);
  folded->stacks[folded->stack_count] = (sp_folded_stack){
      .at = folded->number_count, .count = (uint32_t)count, .value = value};
  folded->number_count += count;
  sp_index_add(&folded->index, hash, (uint32_t)folded->stack_count++);
  return SPANPROF_OK;
}

spanprof_status sp_report_folded_stack(void *data, const uint32_t *functions,
                                       size_t count, int64_t value) {
  sp_report_folded *folded = data;
  const uint64_t hash = sp_hash_bytes(functions, count * sizeof *functions);
  uint32_t at, i;

  for (i = sp_index_first(&folded->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&folded->index, hash, &at)) {
    sp_folded_stack *stack = &folded->stacks[i];

    if (stack->count == count && memcmp(folded->numbers + stack->at, functions,
                                        count * sizeof *functions) == 0) {
      stack->value = sp_report_sum(stack->value, value);
      return SPANPROF_OK;
    }
  }
  if (folded->number_count + count > folded->numbers_max)
    sp_report_folded_flush(folded);
  return folded_add(folded, hash, functions, count, value);
}

static int folded_order(const void *a, const void *b) {
  const sp_folded_stack *left = a, *right = b;
  size_t i;

  if (left->value != right->value)
    return left->value < right->value ? 1 : -1;
  for (i = 0; i < left->count && i < right->count; i++) {
    if (left->numbers[i] != right->numbers[i])
      return left->numbers[i] < right->numbers[i] ? -1 : 1;
  }
  return left->count < right->count ? -1 : left->count > right->count;
}

/* A name may not hold the mark between names. */
static void folded_name(const sp_report *report, uint32_t function, FILE *out) {
  const uint32_t name = report->functions[function].name;
  size_t i, bytes;
  const char *text = sp_name_table_get(&report->names, name, &bytes);

  for (i = 0; i < bytes; i++)
    putc(text[i] == ';' ? ':' : text[i], out);
}

void sp_report_folded_flush(sp_report_folded *folded) {
  size_t i, k;

  for (i = 0; i < folded->stack_count; i++)
    folded->stacks[i].numbers = folded->numbers + folded->stacks[i].at;
  if (folded->stack_count)
    qsort(folded->stacks, folded->stack_count, sizeof *folded->stacks,
          folded_order);
  for (i = 0; i < folded->stack_count; i++) {
    const sp_folded_stack *stack = &folded->stacks[i];

    for (k = stack->count; k > 0; k--) {
      folded_name(folded->report, stack->numbers[k - 1], folded->out);
      putc(k > 1 ? ';' : ' ', folded->out);
    }
    fprintf(folded->out, "%" PRId64 "\n", stack->value);
  }
  folded->stack_count = folded->number_count = 0;
  sp_index_clear(&folded->index);
}
