#include "node_cut.h"

/* Set the weight at the index `at` of a min-heap, and restore the order of the
 * heap. */
static void cut_sink(int64_t *heap, size_t count, size_t at, int64_t weight) {
  size_t below;

  for (; (below = 2 * at + 1) < count; at = below) {
    below += below + 1 < count && heap[below + 1] < heap[below];
    if (heap[below] >= weight)
      break;
    heap[at] = heap[below];
  }
  heap[at] = weight;
}

spanprof_status sp_node_cut_make(sp_node_cut *out, const sp_mem *mem,
                                 size_t nodes_max, size_t count,
                                 sp_node_weight_fn weight, const void *tree) {
  int64_t *heap;
  size_t i;

  *out = (sp_node_cut){.smallest = INT64_MIN, .ties = SIZE_MAX};
  if (!nodes_max || count <= nodes_max)
    return SPANPROF_OK;
  heap = sp_mem_new(mem, nodes_max * sizeof *heap);
  if (!heap)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < nodes_max; i++)
    heap[i] = weight(tree, i + 1);
  for (i = nodes_max / 2; i-- > 0;)
    cut_sink(heap, nodes_max, i, heap[i]);
  for (i = nodes_max; i < count; i++) {
    const int64_t next = weight(tree, i + 1);

    if (next > heap[0])
      cut_sink(heap, nodes_max, 0, next);
  }
  out->smallest = heap[0];
  for (out->ties = 0, i = 0; i < nodes_max; i++)
    out->ties += heap[i] == heap[0];
  sp_mem_free(mem, heap);
  return SPANPROF_OK;
}
