/* The nodes of label sets, and the set of (name, value) pairs in use. Both are
 * static tables (only touched pages use memory). Entries are only added, by
 * compare-and-swap: no lock and no allocation, so a signal handler can use
 * them. */
#ifndef SP_LABEL_NODE_H
#define SP_LABEL_NODE_H

#include "text.h"

#define SP_LABEL_NODES     65536u
#define SP_LABEL_DEPTH_MAX 128u

typedef struct sp_label_node {
  spanprof_labels parent;
  spanprof_text_id name;
  spanprof_text_id value; /* 0: hides outer labels of this name */
  uint16_t next;          /* next node in the bucket */
  uint16_t depth;         /* 1 if the parent is 0 */
} sp_label_node;

/* The node of a set. For 0 and unknown numbers, a node with all fields 0. */
SP_SIGNAL_SAFE const sp_label_node *sp_label_node_get(spanprof_labels set);

/* The set `parent` plus name=value, or 0 if it does not exist yet. `name` is a
 * result of sp_text_name_form(). */
SP_SIGNAL_SAFE spanprof_labels sp_label_node_find(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value);

/* As sp_label_node_find(), but creates the set if it does not exist.
 * SPANPROF_ERR_LIMIT: no free nodes, or too deep. */
SP_SIGNAL_SAFE spanprof_status sp_label_node_make(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value,
                                                  spanprof_labels *out);

/* May `name` have this value? True for pairs that were admitted before, and
 * while the name has fewer than `max` values. */
SP_SIGNAL_SAFE bool sp_label_pair_admit(spanprof_text_id name,
                                        spanprof_text_id value, uint32_t max);

/* The number of used nodes of SP_LABEL_NODES. Nodes are never freed. */
uint32_t sp_label_nodes_used(void);

/* For tests: remove every node. */
void sp_label_node_reset(void);

#endif
