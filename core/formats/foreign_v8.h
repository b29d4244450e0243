/* Adds CPU profiles of V8, which are in .cpuprofile files and in traces. */
#ifndef SP_FOREIGN_V8_H
#define SP_FOREIGN_V8_H

#include "foreign_sums.h"
#include "json_tree.h"

typedef struct sp_v8_profile {
  const sp_json_node *nodes;   /* of the call tree, in any order */
  const sp_json_node *samples; /* the id of each sample's innermost node */
  const sp_json_node *deltas;  /* microseconds between samples */
  double duration_us;          /* the last sample ends after this time */
  uint32_t thread;
} sp_v8_profile;

/* Add the time of each sample or, if the profile has no deltas, the number of
 * samples of each node. Idle time is left out. Returns the statuses of
 * sp_foreign_add(). Also returns SPANPROF_ERR_FORMAT and sets the error message
 * if the call tree has a cycle. */
spanprof_status sp_foreign_v8_add(sp_foreign *foreign,
                                  const sp_v8_profile *profile);

#endif
