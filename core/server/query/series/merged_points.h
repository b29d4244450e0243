/* Points of whole profiles. The store returns a point for each series of a
 * profile; samples with different labels are in different series. Here, the
 * points of one profile are merged to one, which has the labels that all its
 * series have. */
#ifndef SP_MERGED_POINTS_H
#define SP_MERGED_POINTS_H

#include "series_points.h"

typedef struct sp_merged_point {
  sp_exemplar exemplar; /* its value is the sum of the merged points */
  sp_text_pair *own;    /* a copy of the labels; NULL: not copied */
  sp_text_pairs labels; /* the pairs in `own` */
  uint32_t group;
} sp_merged_point;

typedef struct sp_merged_points {
  sp_arena *arena;
  sp_series_groups groups;
  sp_merged_point *points;
  size_t count;
  size_t capacity;
  sp_index index;
  spanprof_status st;
} sp_merged_points;

void sp_merged_points_init(sp_merged_points *points, sp_arena *arena,
                           const sp_texts *group_by);
void sp_merged_points_dispose(sp_merged_points *points);

/* Add a point. This is an sp_store_point_fn, whose `data` is an
 * sp_merged_points. On an error, returns false and sets `st` of the points. */
bool sp_merged_points_add(void *data, const sp_store_point *point);

/* Set the labels of all points. After this call, no point may be added. */
void sp_merged_points_finish(sp_merged_points *points);

#endif
