#include "span_rows.h"

#include <string.h>

#include "server/model/sum.h"

#define ROWS_MAX ((size_t)2000000)

/* The rows and their hash tables are divided into pieces, so that growing does
 * not leave large free blocks in memory. */
#define ROWS_BLOCK       4096
#define ROWS_INDEXES     64
#define ROWS_INDEX_SHIFT 58

void sp_span_rows_init(sp_span_rows *rows, sp_arena *arena, bool by_id) {
  *rows = (sp_span_rows){.mem = arena->mem, .by_id = by_id};
  sp_text_set_init(&rows->texts, arena);
}

void sp_span_rows_dispose(sp_span_rows *rows) {
  size_t i;

  for (i = 0; i < rows->block_count; i++)
    sp_mem_free(rows->mem, rows->blocks[i]);
  for (i = 0; rows->indexes && i < ROWS_INDEXES; i++)
    sp_index_dispose(&rows->indexes[i], rows->mem);
  sp_text_set_dispose(&rows->texts);
  sp_span_durations_dispose(&rows->durations, rows->mem);
  sp_mem_free(rows->mem, rows->blocks);
  sp_mem_free(rows->mem, rows->indexes);
  sp_mem_free(rows->mem, rows->traces);
  sp_mem_free(rows->mem, rows->times);
}

spanprof_status sp_span_rows_text(sp_span_rows *rows, const char *text,
                                  uint32_t *number) {
  spanprof_status st;

  *number = 0;
  if (!text)
    return SPANPROF_OK;
  st = sp_text_set_add(&rows->texts, text, number);
  if (!st)
    ++*number;
  return st;
}

const char *sp_span_rows_text_of(const sp_span_rows *rows, uint32_t number) {
  return number ? rows->texts.texts[number - 1] : NULL;
}

sp_span_row *sp_span_rows_at(const sp_span_rows *rows, size_t number) {
  return &rows->blocks[number / ROWS_BLOCK][number % ROWS_BLOCK];
}

static uint64_t rows_hash(const sp_span_rows *rows, uint64_t span_id,
                          uint32_t name) {
  return sp_hash_mix(SP_HASH_SEED, rows->by_id ? span_id : name);
}

uint32_t sp_span_rows_find(const sp_span_rows *rows, uint64_t span_id,
                           uint32_t name) {
  const uint64_t hash = rows_hash(rows, span_id, name);
  const sp_index *index;
  const sp_span_row *row;
  uint32_t at, i;

  if (!rows->indexes)
    return SP_INDEX_NONE;
  index = &rows->indexes[hash >> ROWS_INDEX_SHIFT];
  for (i = sp_index_first(index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(index, hash, &at)) {
    row = sp_span_rows_at(rows, i);
    if (rows->by_id ? row->span_id == span_id : row->name == name)
      return i;
  }
  return SP_INDEX_NONE;
}

/* Reserve memory for another row. */
static spanprof_status rows_reserve(sp_span_rows *rows, uint64_t hash) {
  spanprof_status st;

  if (rows->count == ROWS_MAX)
    return SPANPROF_ERR_LIMIT;
  if (!rows->indexes)
    rows->indexes =
        sp_mem_zero(rows->mem, ROWS_INDEXES * sizeof *rows->indexes);
  if (!rows->indexes)
    return SPANPROF_ERR_NOMEM;
  st = sp_index_reserve(&rows->indexes[hash >> ROWS_INDEX_SHIFT], rows->mem);
  if (st || rows->count < rows->block_count * ROWS_BLOCK)
    return st;
  st = sp_mem_reserve(rows->mem, (void **)&rows->blocks, &rows->block_capacity,
                      rows->block_count + 1, sizeof(sp_span_row *));
  if (st)
    return st;
  rows->blocks[rows->block_count] =
      sp_mem_new(rows->mem, ROWS_BLOCK * sizeof(sp_span_row));
  if (!rows->blocks[rows->block_count])
    return SPANPROF_ERR_NOMEM;
  rows->block_count++;
  return SPANPROF_OK;
}

spanprof_status sp_span_rows_get(sp_span_rows *rows, uint64_t span_id,
                                 uint32_t name, uint32_t *out) {
  const uint64_t hash = rows_hash(rows, span_id, name);
  sp_span_row *row;
  spanprof_status st;

  *out = sp_span_rows_find(rows, span_id, name);
  if (*out != SP_INDEX_NONE)
    return SPANPROF_OK;
  st = rows_reserve(rows, hash);
  if (st)
    return st;
  *out = (uint32_t)rows->count++;
  row = sp_span_rows_at(rows, *out);
  *row = (sp_span_row){.name = name};
  if (rows->by_id)
    row->span_id = span_id;
  sp_index_add(&rows->indexes[hash >> ROWS_INDEX_SHIFT], hash, *out);
  return SPANPROF_OK;
}

spanprof_status sp_span_rows_set_trace(sp_span_rows *rows, uint32_t number,
                                       sp_trace_id trace) {
  sp_span_row *row = sp_span_rows_at(rows, number);
  spanprof_status st = SPANPROF_OK;

  if (!row->trace) {
    st =
        sp_mem_reserve(rows->mem, (void **)&rows->traces, &rows->trace_capacity,
                       rows->trace_count + 1, sizeof *rows->traces);
    if (st)
      return st;
    row->trace = (uint32_t)++rows->trace_count;
  }
  rows->traces[row->trace - 1] = trace;
  return st;
}

spanprof_status sp_span_rows_add_time(sp_span_rows *rows, uint32_t number,
                                      int64_t ns) {
  sp_span_row *row = sp_span_rows_at(rows, number);
  sp_span_times *times;
  spanprof_status st;

  if (!row->times) {
    st = sp_mem_reserve(rows->mem, (void **)&rows->times, &rows->times_capacity,
                        rows->times_count + 1, sizeof *rows->times);
    if (st)
      return st;
    rows->times[rows->times_count] = (sp_span_times){0};
    row->times = (uint32_t)++rows->times_count;
  }
  times = &rows->times[row->times - 1];
  times->traced++;
  times->duration_ns = sp_sum(times->duration_ns, ns);
  if (ns > times->longest_ns)
    times->longest_ns = ns;
  return sp_span_durations_add(&rows->durations, rows->mem, row->times - 1, ns);
}

void sp_span_rows_quantiles(sp_span_rows *rows) {
  uint32_t i;

  sp_span_durations_sort(&rows->durations);
  for (i = 0; i < rows->times_count; i++) {
    rows->times[i].p50_ns = sp_span_durations_quantile(&rows->durations, i, 50);
    rows->times[i].p99_ns = sp_span_durations_quantile(&rows->durations, i, 99);
  }
}

sp_span_times sp_span_rows_times(const sp_span_rows *rows,
                                 const sp_span_row *row) {
  return row->times ? rows->times[row->times - 1] : (sp_span_times){0};
}

static int rows_by_name(const sp_span_rows *rows, const sp_span_row *left,
                        const sp_span_row *right) {
  const char *a = sp_span_rows_text_of(rows, left->name);
  const char *b = sp_span_rows_text_of(rows, right->name);
  const int order =
      left->name == right->name ? 0 : strcmp(a ? a : "", b ? b : "");

  if (order)
    return order;
  return rows->by_id ? (left->span_id > right->span_id) -
                           (left->span_id < right->span_id)
                     : (left->name > right->name) - (left->name < right->name);
}

/* Compare the rows by the values `a` and `b`, the larger value first, and rows
 * with equal values by name. */
static int rows_by_value(const sp_span_rows *rows, const sp_span_row *left,
                         const sp_span_row *right, int64_t a, int64_t b) {
  return a != b ? (a < b ? 1 : -1) : rows_by_name(rows, left, right);
}

static int rows_by_total(const sp_span_rows *rows, const sp_span_row *left,
                         const sp_span_row *right) {
  return rows_by_value(rows, left, right, left->total, right->total);
}

static int rows_by_samples(const sp_span_rows *rows, const sp_span_row *left,
                           const sp_span_row *right) {
  return rows_by_value(rows, left, right, (int64_t)left->samples,
                       (int64_t)right->samples);
}

static int rows_by_spans(const sp_span_rows *rows, const sp_span_row *left,
                         const sp_span_row *right) {
  return rows->by_id ? rows_by_name(rows, left, right)
                     : rows_by_value(rows, left, right, (int64_t)left->spans,
                                     (int64_t)right->spans);
}

static int rows_by_duration(const sp_span_rows *rows, const sp_span_row *left,
                            const sp_span_row *right) {
  return rows_by_value(rows, left, right,
                       sp_span_rows_times(rows, left).duration_ns,
                       sp_span_rows_times(rows, right).duration_ns);
}

sp_span_row_order sp_span_rows_order(const char *name) {
  static const struct {
    const char *name;
    sp_span_row_order order;
  } orders[] = {{"total", rows_by_total},
                {"samples", rows_by_samples},
                {"spans", rows_by_spans},
                {"duration", rows_by_duration},
                {"name", rows_by_name}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(orders); i++)
    if (strcmp(name, orders[i].name) == 0)
      return orders[i].order;
  return NULL;
}

/* Move the row at `at` down in the heap of the first `count` rows, until none
 * of the rows below it comes before it in the order. */
static void rows_sink(sp_span_rows *rows, sp_span_row_order order, size_t at,
                      size_t count) {
  const sp_span_row row = *sp_span_rows_at(rows, at);
  size_t below;

  for (; (below = 2 * at + 1) < count; at = below) {
    if (below + 1 < count && order(rows, sp_span_rows_at(rows, below),
                                   sp_span_rows_at(rows, below + 1)) > 0)
      below++;
    if (order(rows, &row, sp_span_rows_at(rows, below)) <= 0)
      break;
    *sp_span_rows_at(rows, at) = *sp_span_rows_at(rows, below);
  }
  *sp_span_rows_at(rows, at) = row;
}

void sp_span_rows_select(sp_span_rows *rows, sp_span_row_order order,
                         size_t count) {
  size_t left = rows->count, i;

  for (i = left / 2; i-- > 0;)
    rows_sink(rows, order, i, left);
  for (; count-- && left > 1; left--) {
    const sp_span_row first = *sp_span_rows_at(rows, 0);

    *sp_span_rows_at(rows, 0) = *sp_span_rows_at(rows, left - 1);
    *sp_span_rows_at(rows, left - 1) = first;
    rows_sink(rows, order, 0, left - 1);
  }
}
