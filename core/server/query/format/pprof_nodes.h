/* Selects the nodes of merged stacks for a pprof, and numbers the locations and
 * functions that they need. */
#ifndef SP_PPROF_NODES_H
#define SP_PPROF_NODES_H

#include "pprof_reply.h"

typedef struct sp_pprof_node {
  int64_t total;
  int64_t other; /* sum of the nodes below this one that were cut */
  bool is_cut;   /* the node or one of its callers is cut */
  bool unnamed;  /* the node or one of its callers has no name */
  bool is_used;  /* a sample ends at or below the node */
} sp_pprof_node;

typedef struct sp_pprof_nodes {
  sp_pprof_node *nodes; /* one for each node of the stacks */
  uint32_t *locations;  /* the id of each location; 0: unused */
  uint32_t *functions;  /* the id of each function; 0: unused */
  uint32_t location_count, function_count; /* number of ids */
  bool has_other;                          /* some nodes were cut */
} sp_pprof_nodes;

/* Select the nodes of profile->stacks. Can return SPANPROF_ERR_NOMEM. Dispose
 * of *out also if this fails. */
spanprof_status sp_pprof_nodes_weigh(sp_pprof_nodes *out, const sp_mem *mem,
                                     const sp_pprof_reply *profile);
void sp_pprof_nodes_dispose(sp_pprof_nodes *nodes, const sp_mem *mem);

#endif
