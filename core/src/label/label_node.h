/* The table of the nodes of label sets, and the table of all (name, value)
 * pairs in use. Both tables are static; only their touched pages use memory.
 * Entries are only added, by compare-and-swap, without a lock or an allocation,
 * so a signal handler can use the tables. A node is one label and its `parent`,
 * the set to which the label was added. The number of a node is the number of
 * the set. */
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

/* Return the node of a set. For 0 and unknown numbers, all fields of the node
 * are 0. */
SP_SIGNAL_SAFE const sp_label_node *sp_label_node_get(spanprof_labels set);

/* Return the set `parent` plus name=value, or 0 if it does not exist yet.
 * `name` is a result of sp_text_name_form(). */
SP_SIGNAL_SAFE spanprof_labels sp_label_node_find(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value);

/* Find the set `parent` plus name=value, or create it if it does not exist.
 * `name` is a result of sp_text_name_form(). Returns SPANPROF_ERR_LIMIT if
 * there is no free node, or if the set would be deeper than SP_LABEL_DEPTH_MAX.
 */
SP_SIGNAL_SAFE spanprof_status sp_label_node_make(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value,
                                                  spanprof_labels *out);

/* May the label `name` have this value? True if the pair was admitted before,
 * or if the name has fewer than `max` values. In the latter case the value is
 * counted. */
SP_SIGNAL_SAFE bool sp_label_pair_admit(spanprof_text_id name,
                                        spanprof_text_id value, uint32_t max);

/* Return how many of the SP_LABEL_NODES nodes are in use. Nodes are never
 * freed. */
uint32_t sp_label_nodes_used(void);

/* For tests: remove every node. */
void sp_label_node_reset(void);

#endif
