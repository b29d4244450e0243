/* The series of a selection, grouped by some of their labels. */
#ifndef SP_SERIES_GROUPS_H
#define SP_SERIES_GROUPS_H

#include "server/model/text_pair.h"
#include "server/query/selector/text_set.h"
#include "server/query/wire/query_request.h"
#include "server/query/wire/reply_writer.h"

typedef struct sp_series_group {
  /* The requested labels that the series of the group have, in the requested
   * order. */
  sp_text_pairs labels;
  int64_t total; /* the caller sets it before sorting */
} sp_series_group;

/* A series that the store has returned. */
typedef struct sp_series_seen {
  const sp_text_pairs *labels; /* the store's pointer identifies the series */
  uint32_t group;
  const sp_text_pairs *copy; /* a copy in the arena */
} sp_series_seen;

typedef struct sp_series_groups {
  sp_arena *arena;
  const sp_texts *by;
  sp_series_group *groups;
  size_t count;
  size_t capacity;
  sp_series_seen *seen;
  size_t seen_count;
  size_t seen_capacity;
  sp_index seen_index;
  sp_index group_index;
} sp_series_groups;

void sp_series_groups_init(sp_series_groups *groups, sp_arena *arena,
                           const sp_texts *by);
void sp_series_groups_dispose(sp_series_groups *groups);

/* Find or add the series with these labels. *out gets its index in seen[].
 * seen[*out].group is the index of its group in groups[]. */
spanprof_status sp_series_groups_find(sp_series_groups *groups,
                                      const sp_text_pairs *labels,
                                      uint32_t *out);

/* Get the indexes of all groups, ordered by total, the largest first, then by
 * labels. The array is in the arena. */
spanprof_status sp_series_groups_sort(const sp_series_groups *groups,
                                      uint32_t **out);

/* Write labels as a list of Pyroscope's LabelPairs, in the field number
 * `field`. */
void sp_series_put_labels(sp_reply *reply, uint32_t field,
                          const sp_text_pairs *labels);

/* The steps of a query, which has points at start_ms, start_ms + step_ms, and
 * so on up to the end. */
typedef struct sp_series_steps {
  int64_t start_ms;
  int64_t step_ms;
  int64_t last; /* the index of the last point */
} sp_series_steps;

sp_series_steps sp_series_steps_of(int64_t start_ms, int64_t end_ms,
                                   double step_s);

/* Returns the index of the point to which a time belongs: the first point at or
 * after the time. Times before the first point belong to it, too. Returns -1
 * for a time after the last point. */
int64_t sp_series_step(const sp_series_steps *steps, int64_t time_ms);

#endif
