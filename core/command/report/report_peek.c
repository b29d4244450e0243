#include "report_peek.h"

#include <stdlib.h>
#include <string.h>

#include "util/system/status.h"

void sp_report_peek_init(sp_report_peek *peek, const sp_report *report) {
  memset(peek, 0, sizeof *peek);
  peek->report = report;
}

void sp_report_peek_dispose(sp_report_peek *peek) {
  sp_mem_free(peek->report->mem, peek->edges);
  sp_index_dispose(&peek->index, peek->report->mem);
  sp_report_peek_init(peek, peek->report);
}

void sp_report_peek_restart(void *data) {
  sp_report_peek *peek = data;

  peek->count = 0;
  sp_index_clear(&peek->index);
}

static spanprof_status peek_add(sp_report_peek *peek, uint32_t function,
                                uint32_t neighbour, sp_peek_kind kind,
                                const sp_amount *amount) {
  const sp_mem *mem = peek->report->mem;
  const uint64_t hash = sp_hash_mix(sp_hash_mix(function, SP_HASH_SEED),
                                    (uint64_t)neighbour << 2 | kind);
  sp_peek_edge *edge;
  spanprof_status st;
  uint32_t at, i;

  for (i = sp_index_first(&peek->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&peek->index, hash, &at)) {
    edge = &peek->edges[i];
    if (edge->function != function || edge->neighbour != neighbour ||
        edge->kind != kind)
      continue;
    /* A call that occurs several times in a stack, by recursion, counts once.
     */
    if (edge->last_sample != peek->report->samples)
      sp_amount_add(&edge->amount, amount);
    edge->last_sample = peek->report->samples;
    return SPANPROF_OK;
  }
  st = sp_mem_reserve(mem, (void **)&peek->edges, &peek->capacity,
                      peek->count + 1, sizeof *peek->edges);
  if (!st)
    st = sp_index_reserve(&peek->index, mem);
  if (st)
    return sp_fail(st, "out of memory");
  sp_index_add(&peek->index, hash, (uint32_t)peek->count);
  peek->edges[peek->count++] =
      (sp_peek_edge){.function = function,
                     .neighbour = neighbour,
                     .kind = kind,
                     .last_sample = peek->report->samples,
                     .amount = *amount};
  return SPANPROF_OK;
}

spanprof_status sp_report_peek_stack(void *data, const uint32_t *functions,
                                     size_t count, const sp_amount *amount) {
  sp_report_peek *peek = data;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; i < count && !st; i++) {
    if (!(peek->report->functions[functions[i]].found & SP_REPORT_PEEKED))
      continue;
    st = peek_add(peek, functions[i], functions[i], SP_PEEK_ITSELF, amount);
    if (!st && i + 1 < count)
      st = peek_add(peek, functions[i], functions[i + 1], SP_PEEK_CALLER,
                    amount);
    if (!st && i > 0)
      st = peek_add(peek, functions[i], functions[i - 1], SP_PEEK_CALLEE,
                    amount);
  }
  return st;
}

static int peek_order(const void *a, const void *b) {
  const sp_peek_edge *left = a, *right = b;

  if (left->order != right->order)
    return left->order < right->order ? 1 : -1;
  if (left->function != right->function)
    return left->function < right->function ? -1 : 1;
  if (left->kind != right->kind)
    return left->kind < right->kind ? -1 : 1;
  if (left->amount.value != right->amount.value)
    return left->amount.value < right->amount.value ? 1 : -1;
  return left->neighbour < right->neighbour ? -1 : 1;
}

void sp_report_peek_sort(sp_report_peek *peek) {
  size_t i;

  sp_index_clear(&peek->index);
  for (i = 0; i < peek->count; i++)
    peek->edges[i].order =
        peek->report->functions[peek->edges[i].function].total.value;
  if (peek->count)
    qsort(peek->edges, peek->count, sizeof *peek->edges, peek_order);
}
