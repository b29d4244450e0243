/* Selects the nodes of merged stacks for a pprof, and numbers the locations and
 * functions that they need. */
#ifndef SP_PPROF_NODES_H
#define SP_PPROF_NODES_H

#include "pprof_reply.h"

typedef struct sp_pprof_node {
  int64_t total;
  int64_t other; /* weight of the nodes that were cut below it */
  bool is_cut;   /* it or a caller is cut */
  bool unnamed;  /* it or a caller has no name */
  bool is_used;  /* a sample ends at or below it */
} sp_pprof_node;

typedef struct sp_pprof_nodes {
  sp_pprof_node *nodes; /* one for each of the stacks' nodes */
  uint32_t *locations;  /* the id of each location; 0: unused */
  uint32_t *functions;  /* the id of each function; 0: unused */
  uint32_t location_count, function_count; /* with ids */
  bool has_other;                          /* nodes were cut */
} sp_pprof_nodes;

/* Dispose of *out also if this fails. SPANPROF_ERR_NOMEM. */
spanprof_status sp_pprof_nodes_weigh(sp_pprof_nodes *out, const sp_mem *mem,
                                     const sp_pprof_reply *profile);
void sp_pprof_nodes_dispose(sp_pprof_nodes *nodes, const sp_mem *mem);

#endif
