/* Series of a selection, grouped by some of their labels. */
#ifndef SP_SERIES_GROUPS_H
#define SP_SERIES_GROUPS_H

#include "server/model/text_pair.h"
#include "server/query/selector/text_set.h"
#include "server/query/wire/query_request.h"
#include "server/query/wire/reply_writer.h"

typedef struct sp_series_group {
  sp_text_pairs labels; /* those grouped by that its series have, in the order
                         * asked for */
  int64_t total;        /* for who sorts by it */
} sp_series_group;

/* A series as the store named it, seen once. */
typedef struct sp_series_seen {
  const sp_text_pairs *labels; /* the store's pointer, to know it again */
  uint32_t group;
  const sp_text_pairs *copy; /* the arena's */
} sp_series_seen;

typedef struct sp_series_groups {
  sp_arena *arena;
  const sp_texts *by;
  sp_series_group *groups;
  size_t count;
  size_t room;
  sp_series_seen *seen;
  size_t seen_count;
  size_t seen_room;
  sp_index seen_index;
  sp_index group_index;
} sp_series_groups;

void sp_series_groups_init(sp_series_groups *groups, sp_arena *arena,
                           const sp_texts *by);
void sp_series_groups_dispose(sp_series_groups *groups);

/* The number in seen[] of a series; its `group` is one of groups[]. */
spanprof_status sp_series_groups_find(sp_series_groups *groups,
                                      const sp_text_pairs *labels,
                                      uint32_t *out);

/* Numbers of groups: the largest total first, then by labels. The array is the
 * arena's. */
spanprof_status sp_series_groups_sort(const sp_series_groups *groups,
                                      uint32_t **out);

/* The list of labels, as Pyroscope's field `field` of LabelPair. */
void sp_series_put_labels(sp_reply *reply, uint32_t field,
                          const sp_text_pairs *labels);

/* The steps of a query: points at start, start + step, …, end, in ms. */
typedef struct sp_series_steps {
  int64_t start_ms;
  int64_t step_ms;
  int64_t last; /* number of the last point */
} sp_series_steps;

sp_series_steps sp_series_steps_of(int64_t start_ms, int64_t end_ms,
                                   double step_s);

/* The number of the point that a time counts to: the first at or behind it.
 * What is more than a step before the start counts to the first, what is behind
 * the last point to none: -1. */
int64_t sp_series_step(const sp_series_steps *steps, int64_t time_ms);

#endif
