#include "label_node.h"

#include "util/memory/hash.h"

/* Size of the hash table of pairs. The table is at most half full, because
 * there are not more pairs than nodes. */
#define PAIR_SLOTS (2 * SP_LABEL_NODES)

/* Process-wide, because the number of a label set is valid on every thread. */
static struct {
  sp_label_node nodes[SP_LABEL_NODES]; /* number 0 is the empty set */
  _Atomic uint16_t buckets[SP_LABEL_NODES];
  /* Number of label sets that were numbered; may exceed SP_LABEL_NODES. */
  _Atomic uint32_t count;
  _Atomic uint64_t pairs[PAIR_SLOTS]; /* name << 32 | value; 0: free */
  _Atomic uint32_t pair_count;
} label_nodes;

SP_SIGNAL_SAFE static uint64_t node_hash(spanprof_labels parent,
                                         spanprof_text_id name,
                                         spanprof_text_id value) {
  return sp_hash_mix((uint64_t)name << 32 | value, parent);
}

/* Search a bucket's list, from node `at` on, for the set that adds the label
 * `name`=`value` to `parent`. Returns 0 if the list does not contain it. */
SP_SIGNAL_SAFE static spanprof_labels node_search(uint32_t at,
                                                  spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value) {
  while (at) {
    const sp_label_node *node = &label_nodes.nodes[at];

    if (node->parent == parent && node->name == name && node->value == value)
      break;
    at = node->next;
  }
  return at;
}

SP_SIGNAL_SAFE const sp_label_node *sp_label_node_get(spanprof_labels set) {
  return &label_nodes.nodes[set < SP_LABEL_NODES ? set : 0];
}

SP_SIGNAL_SAFE spanprof_labels sp_label_node_find(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value) {
  uint64_t hash = node_hash(parent, name, value);

  return node_search(
      atomic_load_explicit(&label_nodes.buckets[hash % SP_LABEL_NODES],
                           memory_order_acquire),
      parent, name, value);
}

SP_SIGNAL_SAFE spanprof_status sp_label_node_make(spanprof_labels parent,
                                                  spanprof_text_id name,
                                                  spanprof_text_id value,
                                                  spanprof_labels *out) {
  _Atomic uint16_t *bucket =
      &label_nodes.buckets[node_hash(parent, name, value) % SP_LABEL_NODES];
  uint16_t head = atomic_load_explicit(bucket, memory_order_acquire);
  uint16_t depth = sp_label_node_get(parent)->depth;
  sp_label_node *node;
  uint32_t number;

  *out = node_search(head, parent, name, value);
  if (*out)
    return SPANPROF_OK;
  if (depth >= SP_LABEL_DEPTH_MAX ||
      atomic_load_explicit(&label_nodes.count, memory_order_relaxed) >=
          SP_LABEL_NODES - 1)
    return SPANPROF_ERR_LIMIT;
  number = 1 + atomic_fetch_add_explicit(&label_nodes.count, 1,
                                         memory_order_relaxed);
  if (number >= SP_LABEL_NODES)
    return SPANPROF_ERR_LIMIT;
  node = &label_nodes.nodes[number];
  node->parent = parent;
  node->name = name;
  node->value = value;
  node->depth = (uint16_t)(depth + 1);
  node->next = head;
  while (!atomic_compare_exchange_strong_explicit(
      bucket, &head, (uint16_t)number, memory_order_release,
      memory_order_acquire)) {
    /* Another writer has added a node to the bucket. If it is the same set, the
     * number that this call took stays unused. */
    *out = node_search(head, parent, name, value);
    if (*out)
      return SPANPROF_OK;
    node->next = head;
  }
  *out = number;
  return SPANPROF_OK;
}

SP_SIGNAL_SAFE bool sp_label_pair_admit(spanprof_text_id name,
                                        spanprof_text_id value, uint32_t max) {
  uint64_t pair = (uint64_t)name << 32 | value;
  size_t at = sp_hash_mix(pair, 0) % PAIR_SLOTS;
  bool acquired = false;

  for (;; at = (at + 1) % PAIR_SLOTS) {
    uint64_t slot =
        atomic_load_explicit(&label_nodes.pairs[at], memory_order_relaxed);

    if (slot == 0) {
      if (!acquired &&
          (atomic_load_explicit(&label_nodes.pair_count,
                                memory_order_relaxed) >= SP_LABEL_NODES ||
           !sp_text_value_acquire(name, max)))
        return false;
      acquired = true;
      if (atomic_compare_exchange_strong_explicit(&label_nodes.pairs[at], &slot,
                                                  pair, memory_order_relaxed,
                                                  memory_order_relaxed)) {
        atomic_fetch_add_explicit(&label_nodes.pair_count, 1,
                                  memory_order_relaxed);
        return true;
      }
    }
    if (slot == pair) {
      if (acquired)
        sp_text_value_release(name);
      return true;
    }
  }
}

uint32_t sp_label_nodes_used(void) {
  return atomic_load_explicit(&label_nodes.count, memory_order_relaxed);
}

void sp_label_node_reset(void) {
  memset(&label_nodes, 0, sizeof label_nodes);
}
