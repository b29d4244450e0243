#include "call_path.h"

#include <string.h>

/* A depth that means that the stack begins with other names. */
#define PATH_OFF SIZE_MAX

/* Returns how many of the names match the beginning of a stack, or PATH_OFF.
 * `location` is the innermost location of the stack. `depth` is the number for
 * the stack without this location. */
static size_t path_step(const sp_stack_tree *stacks,
                        const sp_tree_location *location,
                        const char *const *names, size_t count, size_t depth) {
  uint32_t i;

  for (i = location->line_count; i > 0 && depth < count; i--) {
    const uint32_t function = location->lines[i - 1].function;

    if (strcmp(stacks->functions[function].name, names[depth]) != 0)
      return PATH_OFF;
    depth++;
  }
  return depth;
}

/* Remove the nodes for which `numbers` has PATH_OFF. For all other nodes,
 * `numbers` gets the new number. */
static void path_pack(sp_stack_tree *stacks, size_t *numbers) {
  size_t i, kept = 1;

  numbers[0] = 0;
  for (i = 1; i < stacks->node_count; i++) {
    if (numbers[i] == PATH_OFF)
      continue;
    numbers[i] = kept;
    stacks->nodes[kept] = stacks->nodes[i];
    stacks->nodes[kept].parent = (uint32_t)numbers[stacks->nodes[kept].parent];
    kept++;
  }
  stacks->node_count = kept;
}

spanprof_status sp_call_path_keep(sp_stack_tree *stacks,
                                  const char *const *names, size_t count) {
  const sp_mem *mem = stacks->arena.mem;
  size_t *depths = sp_mem_new(mem, stacks->node_count * sizeof *depths);
  bool *leads = sp_mem_zero(mem, stacks->node_count * sizeof *leads);
  spanprof_status st = SPANPROF_ERR_NOMEM;
  size_t i;

  if (!depths || !leads)
    goto cleanup;
  depths[0] = 0;
  for (i = 1; i < stacks->node_count; i++) {
    const sp_tree_node *node = &stacks->nodes[i];

    st = sp_cancel_step(stacks->cancel);
    if (st)
      goto cleanup;
    depths[i] = depths[node->parent];
    if (depths[i] != PATH_OFF)
      depths[i] = path_step(stacks, &stacks->locations[node->location], names,
                            count, depths[i]);
  }
  for (i = stacks->node_count - 1; i > 0; i--) {
    if (depths[i] != count && !leads[i])
      depths[i] = PATH_OFF;
    else
      leads[stacks->nodes[i].parent] = true;
    if (depths[i] != count)
      stacks->nodes[i].self = stacks->nodes[i].count = 0;
  }
  path_pack(stacks, depths);
  st = SPANPROF_OK;

cleanup:
  sp_mem_free(mem, depths);
  sp_mem_free(mem, leads);
  return st;
}
