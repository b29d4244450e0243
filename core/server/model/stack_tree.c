#include "stack_tree.h"

void sp_stack_tree_free(sp_stack_tree *tree) {
  const sp_mem *mem;

  if (!tree)
    return;
  mem = tree->arena.mem;
  sp_arena_dispose(&tree->arena);
  sp_mem_free(mem, tree);
}
