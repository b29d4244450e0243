/* Points of whole profiles. A profile whose samples have labels of their own is
 * kept as several series; for who asked for profiles it is one again, with the
 * labels that all of its series have. */
#ifndef SP_WHOLE_POINTS_H
#define SP_WHOLE_POINTS_H

#include "series_points.h"

typedef struct sp_whole_point {
  sp_exemplar exemplar; /* value: the sum */
  sp_text_pair *own;    /* labels that are this point's alone; NULL: none yet */
  sp_text_pairs labels; /* of `own` */
  uint32_t group;
} sp_whole_point;

typedef struct sp_whole_points {
  sp_arena *arena;
  sp_series_groups groups;
  sp_whole_point *points;
  size_t count;
  size_t room;
  sp_index index;
  spanprof_status st;
} sp_whole_points;

void sp_whole_points_init(sp_whole_points *points, sp_arena *arena,
                          const sp_texts *group_by);
void sp_whole_points_dispose(sp_whole_points *points);

/* An sp_store_point_fn; `data` is the points. False: `st` says why. */
bool sp_whole_points_add(void *data, const sp_store_point *point);

/* The labels of a point; valid as long as no point is added. */
void sp_whole_points_finish(sp_whole_points *points);

#endif
