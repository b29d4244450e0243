/* The nodes label sets are made of, and the pairs of name and value they may
 * have. Static tables (only touched pages cost memory) that are only added to,
 * by compare-and-swap: no lock, no allocation, usable in a signal handler. */
#ifndef SP_LABEL_NODE_H
#define SP_LABEL_NODE_H

#include "text.h"

#define SP_LABEL_NODES     65536u
#define SP_LABEL_DEPTH_MAX 128u

typedef struct sp_label_node {
  spanprof_labels parent;
  spanprof_text_id name;
  spanprof_text_id value; /* 0: hides outer labels of the name */
  uint16_t next;          /* in the bucket */
  uint16_t depth;         /* 1 where the parent is 0 */
} sp_label_node;

/* The node of a set; of 0 and of unknown numbers, one with all fields 0. */
SP_SIGNAL_SAFE const sp_label_node *sp_label_node_get(spanprof_labels set);

/* The set that is `parent` with name=value on top; 0: there is none yet. The
 * name is in its name form. */
SP_SIGNAL_SAFE spanprof_labels sp_label_node_find(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value);

/* The same, made where there is none. SPANPROF_ERR_LIMIT: no nodes left, or
 * too deep. */
SP_SIGNAL_SAFE spanprof_status sp_label_node_make(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value,
                                                  spanprof_labels *out);

/* May `name` have this value? True for the pairs that were admitted before and
 * as long as the name has fewer than `max` values. */
SP_SIGNAL_SAFE bool sp_label_pair_admit(spanprof_text_id name,
                                        spanprof_text_id value, uint32_t max);

/* How many of SP_LABEL_NODES are taken, for good. */
uint32_t sp_label_nodes_used(void);

/* For tests: forget every node. */
void sp_label_node_reset(void);

#endif
