/* What of merged stacks a pprof has: which nodes stay, and the numbers of the
 * locations and functions that they need. */
#ifndef SP_PPROF_NODES_H
#define SP_PPROF_NODES_H

#include "pprof_reply.h"

typedef struct sp_pprof_node {
  int64_t total;
  int64_t other; /* weight of what was cut below it */
  bool is_cut;   /* it, or one above it */
  bool unnamed;  /* it, or one above it, has no name */
  bool is_used;  /* a sample ends at it, or below it */
} sp_pprof_node;

typedef struct sp_pprof_nodes {
  sp_pprof_node *nodes; /* of each of the stacks' */
  uint32_t *locations;  /* the id of each; 0: no sample has it */
  uint32_t *functions;  /* likewise */
  uint32_t location_count, function_count; /* of those with an id */
  bool has_other;                          /* something was cut */
} sp_pprof_nodes;

/* Pair with sp_pprof_nodes_dispose() also where it fails. */
spanprof_status sp_pprof_nodes_weigh(sp_pprof_nodes *out, const sp_mem *mem,
                                     const sp_pprof_reply *profile);
void sp_pprof_nodes_dispose(sp_pprof_nodes *nodes, const sp_mem *mem);

#endif
