/* Sums of the points of a selection in cells. A cell is a group of series in
 * one time step and, in heat maps, one row, which is a range of values. */
#ifndef SP_SERIES_POINTS_H
#define SP_SERIES_POINTS_H

#include "series_groups.h"
#include "server/store/store.h"

/* The point with the largest value in a cell. If several points have this
 * value, it is the earliest of them, and if several of those have the same
 * time, the one with the smallest ids. */
typedef struct sp_exemplar {
  int64_t time_ms;
  int64_t value;
  const sp_text_pairs *labels;
  sp_profile_uuid profile;
  uint64_t span_id;
  sp_trace_id trace_id;
} sp_exemplar;

typedef struct sp_series_cell {
  uint32_t group;
  uint32_t row;
  int64_t step;
  int64_t value; /* sum */
  int32_t count; /* number of points */
  sp_exemplar exemplar;
} sp_series_cell;

typedef struct sp_series_cells {
  const sp_mem *mem;
  size_t bytes_max;
  sp_series_cell *cells;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_series_cells;

void sp_series_cells_init(sp_series_cells *cells, const sp_mem *mem,
                          size_t bytes_max);
void sp_series_cells_dispose(sp_series_cells *cells);

/* Add one point to its cell. Returns SPANPROF_ERR_LIMIT if there are too many
 * cells. */
spanprof_status sp_series_cells_add(sp_series_cells *cells, uint32_t group,
                                    int64_t step, uint32_t row,
                                    const sp_exemplar *point);

/* Sort the cells by group, step and row. After this call, no point may be
 * added. */
void sp_series_cells_sort(sp_series_cells *cells);

/* Returns the first of the sorted cells of a group. *end gets the end of its
 * cells. */
const sp_series_cell *sp_series_cells_of(const sp_series_cells *cells,
                                         uint32_t group,
                                         const sp_series_cell **end);

sp_exemplar sp_exemplar_of(const sp_store_point *point,
                           const sp_text_pairs *labels);

/* Write a types.v1.Exemplar of a profile or a span as an item of the list
 * `exemplars`. */
void sp_exemplar_put(sp_reply *reply, const sp_exemplar *exemplar,
                     bool of_span);

#endif
