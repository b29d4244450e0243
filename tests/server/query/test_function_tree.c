/* A tree that is cut keeps its sums. */
#include "failing_mem.h"

#include <server/query/tree/function_tree.h>
#include <stdlib.h>
#include <string.h>

#define TREE_FUNCTIONS 7
#define TREE_NODES     600
#define TREE_OTHER     "(other)"

typedef struct made_stacks {
  sp_tree_function functions[TREE_FUNCTIONS];
  sp_tree_line lines[TREE_FUNCTIONS];
  sp_tree_location locations[TREE_FUNCTIONS];
  sp_tree_node nodes[TREE_NODES];
  sp_stack_tree tree;
} made_stacks;

/* Make a random tree, in which the parent of each node is any node before it.
 * Many weights are equal. */
static void stacks_make(made_stacks *made, unsigned seed, int64_t weight_max) {
  static const char *const names[TREE_FUNCTIONS] = {"a", "b", "c", "d",
                                                    "e", "f", "g"};
  size_t i;

  memset(made, 0, sizeof *made);
  for (i = 0; i < TREE_FUNCTIONS; i++) {
    made->functions[i] = (sp_tree_function){.name = names[i], .file = ""};
    made->lines[i] = (sp_tree_line){.function = (uint32_t)i};
    made->locations[i] =
        (sp_tree_location){.lines = &made->lines[i], .line_count = 1};
  }
  for (i = 1; i < TREE_NODES; i++)
    made->nodes[i] =
        (sp_tree_node){.parent = (uint32_t)rand_r(&seed) % (uint32_t)i,
                       .location = (uint32_t)rand_r(&seed) % TREE_FUNCTIONS,
                       .self = rand_r(&seed) % (weight_max + 1),
                       .count = 1};
  made->tree = (sp_stack_tree){.functions = made->functions,
                               .locations = made->locations,
                               .nodes = made->nodes,
                               .function_count = TREE_FUNCTIONS,
                               .location_count = TREE_FUNCTIONS,
                               .node_count = TREE_NODES};
}

/* Compute the totals of all nodes. Returns the root's total. */
static int64_t tree_sum(const sp_function_tree *tree, uint32_t side,
                        int64_t *totals) {
  size_t i;

  for (i = 0; i < tree->calls.node_count; i++)
    totals[i] = *sp_function_tree_self(tree, i, side);
  for (i = tree->calls.node_count - 1; i > 0; i--) {
    CHECK(tree->calls.nodes[i].parent < i);
    totals[tree->calls.nodes[i].parent] += totals[i];
  }
  return totals[0];
}

static bool is_merged(const sp_function_tree *tree, size_t node) {
  return node > 0 && tree->calls.nodes[node].function == TREE_FUNCTIONS;
}

/* Check that each node of the tree that was cut has the same total as in the
 * whole tree, and that its child "(other)" has the sums of the nodes that were
 * removed below it. */
static void check_cut(const sp_function_tree *whole,
                      const sp_function_tree *cut, uint32_t side) {
  static int64_t totals[2 * TREE_NODES], cut_totals[2 * TREE_NODES];
  static uint32_t numbers[2 * TREE_NODES];
  size_t i, j, kept = 1;

  CHECK_EQUAL(tree_sum(cut, side, cut_totals), tree_sum(whole, side, totals));
  numbers[0] = 0;
  for (i = 1; i < cut->calls.node_count; i++) {
    CHECK(!is_merged(cut, cut->calls.nodes[i].parent));
    if (is_merged(cut, i))
      continue;
    kept++;
    for (j = 1; j < whole->calls.node_count; j++)
      if (whole->calls.nodes[j].function == cut->calls.nodes[i].function &&
          whole->calls.nodes[j].parent == numbers[cut->calls.nodes[i].parent])
        break;
    CHECK(j < whole->calls.node_count);
    numbers[i] = (uint32_t)j;
    CHECK_EQUAL(cut_totals[i], totals[j]);
    CHECK_EQUAL(*sp_function_tree_self(cut, i, side),
                *sp_function_tree_self(whole, j, side));
  }
  CHECK_EQUAL(kept + cut->merged_count, whole->calls.node_count);
}

static void merged_nodes_keep_their_sums(void) {
  static made_stacks left, right;
  static const int64_t weights[] = {0, 1, 1000};
  unsigned seed;
  size_t w, nodes_max;

  for (seed = 1; seed <= 5; seed++)
    for (w = 0; w < SP_COUNT_OF(weights); w++)
      for (nodes_max = 4; nodes_max < TREE_NODES; nodes_max += 37) {
        sp_function_tree whole, cut;
        uint32_t side;

        stacks_make(&left, seed, weights[w]);
        stacks_make(&right, seed + 100, 50);
        CHECK_EQUAL(
            sp_function_tree_init(&whole, &sp_mem_default, SP_TREE_SIDES, true),
            SPANPROF_OK);
        CHECK_EQUAL(
            sp_function_tree_init(&cut, &sp_mem_default, SP_TREE_SIDES, true),
            SPANPROF_OK);
        for (side = 0; side < SP_TREE_SIDES; side++) {
          const sp_stack_tree *stacks = side ? &right.tree : &left.tree;

          CHECK_EQUAL(sp_function_tree_add(&whole, stacks, side), SPANPROF_OK);
          CHECK_EQUAL(sp_function_tree_add(&cut, stacks, side), SPANPROF_OK);
        }
        CHECK_EQUAL(sp_function_tree_cut(&cut, nodes_max, TREE_OTHER),
                    SPANPROF_OK);
        CHECK(cut.calls.node_count <= 2 * nodes_max + 2);
        for (side = 0; side < SP_TREE_SIDES; side++)
          check_cut(&whole, &cut, side);
        sp_function_tree_dispose(&whole);
        sp_function_tree_dispose(&cut);
      }
}

static void cut_scenario(const sp_mem *mem) {
  static made_stacks made;
  sp_function_tree tree;
  spanprof_status st = sp_function_tree_init(&tree, mem, 1, true);

  stacks_make(&made, 1, 9);
  if (!st)
    st = sp_function_tree_add(&tree, &made.tree, 0);
  if (!st)
    st = sp_function_tree_cut(&tree, 20, TREE_OTHER);
  CHECK(st == SPANPROF_ERR_NOMEM || (!st && tree.calls.node_count <= 42));
  sp_function_tree_dispose(&tree);
}

static void running_out_of_memory_returns_an_error(void) {
  failing_mem_sweep(cut_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"merged_nodes_keep_their_sums", merged_nodes_keep_their_sums},
      {"running_out_of_memory_returns_an_error",
       running_out_of_memory_returns_an_error},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
