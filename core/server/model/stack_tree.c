#include "stack_tree.h"

#include <string.h>

#include "util/system/status.h"

spanprof_status sp_stack_tree_array(sp_stack_tree *tree, size_t count,
                                    size_t item, void *out) {
  sp_arena *arena = &tree->arena;
  void *array = sp_arena_new(arena, count + 1, item);

  memcpy(out, &array, sizeof array);
  if (array)
    return SPANPROF_OK;
  return arena->st == SPANPROF_ERR_LIMIT
             ? sp_fail(SPANPROF_ERR_LIMIT,
                       "the query has too many stacks: narrow it down")
             : arena->st;
}

void sp_stack_tree_free(sp_stack_tree *tree) {
  const sp_mem *mem;

  if (!tree)
    return;
  mem = tree->arena.mem;
  sp_arena_dispose(&tree->arena);
  sp_mem_free(mem, tree);
}
