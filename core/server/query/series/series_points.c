#include "series_points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/model/sum.h"

void sp_series_cells_init(sp_series_cells *cells, const sp_mem *mem,
                          size_t bytes_max) {
  *cells = (sp_series_cells){.mem = mem, .bytes_max = bytes_max};
}

void sp_series_cells_dispose(sp_series_cells *cells) {
  if (!cells->mem)
    return;
  sp_index_dispose(&cells->index, cells->mem);
  sp_mem_free(cells->mem, cells->cells);
  *cells = (sp_series_cells){0};
}

static int exemplar_order(const sp_exemplar *left, const sp_exemplar *right) {
  if (left->value != right->value)
    return left->value > right->value ? -1 : 1;
  if (left->time_ms != right->time_ms)
    return left->time_ms < right->time_ms ? -1 : 1;
  if (left->span_id != right->span_id)
    return left->span_id < right->span_id ? -1 : 1;
  return memcmp(&left->profile, &right->profile, sizeof left->profile);
}

spanprof_status sp_series_cells_add(sp_series_cells *cells, uint32_t group,
                                    int64_t step, uint32_t row,
                                    const sp_exemplar *point) {
  const uint64_t hash = sp_hash_mix(
      sp_hash_mix(SP_HASH_SEED, (uint64_t)group << 32 | row), (uint64_t)step);
  uint32_t at, i = sp_index_first(&cells->index, hash, &at);
  sp_series_cell *cell;
  spanprof_status st;

  while (i != SP_INDEX_NONE &&
         (cells->cells[i].group != group || cells->cells[i].step != step ||
          cells->cells[i].row != row))
    i = sp_index_next(&cells->index, hash, &at);
  if (i == SP_INDEX_NONE) {
    if (cells->count >= cells->bytes_max / sizeof *cells->cells)
      return SPANPROF_ERR_LIMIT;
    st = sp_index_reserve(&cells->index, cells->mem);
    if (!st)
      st = sp_mem_reserve(cells->mem, (void **)&cells->cells, &cells->capacity,
                          cells->count + 1, sizeof *cells->cells);
    if (st)
      return st;
    i = (uint32_t)cells->count++;
    cells->cells[i] = (sp_series_cell){
        .group = group, .row = row, .step = step, .exemplar = *point};
    sp_index_add(&cells->index, hash, i);
  }
  cell = &cells->cells[i];
  cell->value = sp_sum(cell->value, point->value);
  cell->count += cell->count < INT32_MAX;
  if (exemplar_order(point, &cell->exemplar) < 0)
    cell->exemplar = *point;
  return SPANPROF_OK;
}

static int cell_order(const void *a, const void *b) {
  const sp_series_cell *left = a, *right = b;

  if (left->group != right->group)
    return left->group < right->group ? -1 : 1;
  if (left->step != right->step)
    return left->step < right->step ? -1 : 1;
  return (left->row > right->row) - (left->row < right->row);
}

void sp_series_cells_sort(sp_series_cells *cells) {
  if (cells->count)
    qsort(cells->cells, cells->count, sizeof *cells->cells, cell_order);
}

/* Convert a time to ms, rounded down, also before 1970. */
static int64_t exemplar_ms(int64_t time_ns) {
  const int64_t ms = time_ns / 1000000;

  return ms - (time_ns % 1000000 < 0);
}

const sp_series_cell *sp_series_cells_of(const sp_series_cells *cells,
                                         uint32_t group,
                                         const sp_series_cell **end) {
  size_t low = 0, high = cells->count, first;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (cells->cells[middle].group < group)
      low = middle + 1;
    else
      high = middle;
  }
  first = low;
  while (low < cells->count && cells->cells[low].group == group)
    low++;
  *end = cells->cells + low;
  return cells->cells + first;
}

sp_exemplar sp_exemplar_of(const sp_store_point *point,
                           const sp_text_pairs *labels) {
  return (sp_exemplar){.time_ms = exemplar_ms(point->time_ns),
                       .value = point->value,
                       .labels = labels,
                       .profile = point->profile,
                       .span_id = point->span_id,
                       .trace_id = point->trace_id};
}

static void exemplar_uuid(const sp_profile_uuid *uuid, char text[37]) {
  size_t i, at = 0;

  for (i = 0; i < sizeof uuid->bytes; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      text[at++] = '-';
    snprintf(text + at, 3, "%02x", uuid->bytes[i]);
    at += 2;
  }
}

void sp_exemplar_put(sp_reply *reply, const sp_exemplar *exemplar,
                     bool of_span) {
  char text[40];

  sp_reply_item(reply, 4);
  sp_reply_int(reply, 1, "timestamp", exemplar->time_ms);
  if (!of_span) {
    exemplar_uuid(&exemplar->profile, text);
    sp_reply_text(reply, 2, "profileId", text);
  } else if (exemplar->span_id) {
    snprintf(text, sizeof text, "%016" PRIx64, exemplar->span_id);
    sp_reply_text(reply, 3, "spanId", text);
  }
  sp_reply_int(reply, 4, "value", exemplar->value);
  sp_series_put_labels(reply, 5, exemplar->labels);
  if (of_span && (exemplar->trace_id.hi || exemplar->trace_id.lo)) {
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64,
             exemplar->trace_id.hi, exemplar->trace_id.lo);
    sp_reply_text(reply, 6, "traceId", text);
  }
  sp_reply_close(reply);
}
