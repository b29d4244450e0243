/* Merged stacks as a flame graph, as the bytes of a tree, as folded stacks and
 * as a call graph. The expected numbers are those of Pyroscope 2.2 for the same
 * stacks. */
#include "check.h"

#include <server/query/format/dot_graph.h>
#include <server/query/tree/flame_graph.h>

/* The functions of the stacks main;a;b 10, main;a 5 and main;c;a 7. Each
 * function has one line. */
enum { MAIN, A, B, C, FUNCTIONS };

typedef struct fixture {
  sp_tree_function functions[FUNCTIONS];
  sp_tree_line lines[FUNCTIONS];
  sp_tree_location locations[FUNCTIONS];
  sp_tree_node nodes[6];
  sp_stack_tree stacks;
} fixture;

static void fixture_make(fixture *f, const char *const *names) {
  size_t i;

  memset(f, 0, sizeof *f);
  for (i = 0; i < FUNCTIONS; i++) {
    f->functions[i] = (sp_tree_function){.name = names[i], .file = "x.c"};
    f->lines[i] = (sp_tree_line){.function = (uint32_t)i, .line = 7};
    f->locations[i] =
        (sp_tree_location){.lines = &f->lines[i], .line_count = 1};
  }
  f->nodes[1] = (sp_tree_node){.parent = 0, .location = MAIN};
  f->nodes[2] = (sp_tree_node){.parent = 1, .location = A, .self = 5};
  f->nodes[3] = (sp_tree_node){.parent = 2, .location = B, .self = 10};
  f->nodes[4] = (sp_tree_node){.parent = 1, .location = C};
  f->nodes[5] = (sp_tree_node){.parent = 4, .location = A, .self = 7};
  f->stacks.functions = f->functions;
  f->stacks.locations = f->locations;
  f->stacks.nodes = f->nodes;
  f->stacks.function_count = f->stacks.location_count = FUNCTIONS;
  f->stacks.node_count = 6;
}

static const char *const plain_names[] = {"main", "a", "b", "c"};

static void tree_make(sp_function_tree *tree, const fixture *f,
                      uint32_t side_count, size_t nodes_max) {
  uint32_t side;

  CHECK(!sp_function_tree_init(tree, &sp_mem_default, side_count, false));
  for (side = 0; side < side_count; side++)
    CHECK(!sp_function_tree_add(tree, &f->stacks, side));
  CHECK(!sp_function_tree_cut(tree, nodes_max, SP_FLAME_OTHER));
}

static const char *name_of(const sp_function_tree *tree, size_t node) {
  return tree->functions[tree->calls.nodes[node].function].name;
}

static void check_values(const sp_flame_graph *graph, const int64_t *expected,
                         size_t count) {
  size_t i;

  CHECK_EQUAL(graph->row_starts[graph->row_count], count);
  for (i = 0; i < count; i++)
    CHECK_EQUAL(graph->values[i], expected[i]);
}

static void a_flame_graph_has_the_numbers_and_names_of_pyroscope(void) {
  static const int64_t expected[] = {0, 22, 0, 0, 0, 22, 0,  1, 0, 15, 5, 3,
                                     0, 7,  0, 2, 5, 10, 10, 4, 0, 7,  7, 3};
  static const char *const names[] = {"total", "main", "c", "a", "b"};
  fixture f;
  sp_function_tree tree;
  sp_flame_graph graph;
  size_t i;

  fixture_make(&f, plain_names);
  tree_make(&tree, &f, 1, 100);
  CHECK(!sp_flame_graph_make(&graph, &tree));
  check_values(&graph, expected, SP_COUNT_OF(expected));
  CHECK_EQUAL(4, graph.row_count);
  CHECK_EQUAL(5, graph.name_count);
  for (i = 0; i < 5; i++)
    CHECK_TEXT(graph.names[i], names[i]);
  CHECK_EQUAL(22, graph.total);
  CHECK_EQUAL(10, graph.max_self);
  sp_flame_graph_dispose(&graph);
  sp_function_tree_dispose(&tree);
}

static void a_comparison_has_both_sides(void) {
  static const int64_t expected[] = {
      0, 22, 0, 0, 22, 0, 0, 0, 22, 0,  0, 22, 0,  1, 0, 15, 5, 0, 15, 5, 3,
      0, 7,  0, 0, 7,  0, 2, 5, 10, 10, 5, 10, 10, 4, 0, 7,  7, 0, 7,  7, 3};
  fixture f;
  sp_function_tree tree;
  sp_flame_graph graph;

  fixture_make(&f, plain_names);
  tree_make(&tree, &f, 2, 100);
  CHECK(!sp_flame_graph_make(&graph, &tree));
  check_values(&graph, expected, SP_COUNT_OF(expected));
  CHECK_EQUAL(44, graph.total);
  CHECK_EQUAL(22, graph.ticks[0]);
  CHECK_EQUAL(10, graph.max_self);
  sp_flame_graph_dispose(&graph);
  sp_function_tree_dispose(&tree);
}

/* The tree is a chain of 3 nodes, which all have equal weights, and 6 leaves
 * with equal weights. The first of several equal nodes are kept, and no weight
 * is lost. */
static void a_cut_keeps_the_requested_number_of_nodes(void) {
  static const char *const leaves[] = {"a", "b", "c", "d", "e", "f"};
  size_t nodes_max;

  for (nodes_max = 1; nodes_max < 9; nodes_max++) {
    uint32_t chain = 0, others = 0, leaf, i;
    sp_function_tree tree;
    int64_t sum = 0;

    CHECK(!sp_function_tree_init(&tree, &sp_mem_default, 1, false));
    for (i = 0; i < 3; i++)
      CHECK(!sp_function_tree_child(&tree, &chain, "main", 4));
    for (i = 0; i < 6; i++) {
      leaf = chain;
      CHECK(!sp_function_tree_child(&tree, &leaf, leaves[i], 1));
      *sp_function_tree_self(&tree, leaf, 0) = 10;
    }
    CHECK(!sp_function_tree_cut(&tree, nodes_max, SP_FLAME_OTHER));
    for (i = 1; i < tree.calls.node_count; i++) {
      others += strcmp(name_of(&tree, i), SP_FLAME_OTHER) == 0;
      sum += *sp_function_tree_self(&tree, i, 0);
    }
    CHECK_EQUAL(nodes_max, tree.calls.node_count - 1 - others);
    CHECK_EQUAL(1, others);
    CHECK_EQUAL(60, sum);
    CHECK(nodes_max < 4 || strcmp(name_of(&tree, 4), "a") == 0);
    sp_function_tree_dispose(&tree);
  }
}

/* In a difference, large values that cancel out are kept rather than small
 * values. */
static void a_cut_weighs_negative_values_by_their_size(void) {
  sp_function_tree tree;
  uint32_t node;

  CHECK(!sp_function_tree_init(&tree, &sp_mem_default, 1, false));
  node = 0;
  CHECK(!sp_function_tree_child(&tree, &node, "small", 5));
  *sp_function_tree_self(&tree, node, 0) = 1;
  node = 0;
  CHECK(!sp_function_tree_child(&tree, &node, "freed", 5));
  *sp_function_tree_self(&tree, node, 0) = 50;
  CHECK(!sp_function_tree_child(&tree, &node, "free", 4));
  *sp_function_tree_self(&tree, node, 0) = -50;
  CHECK(!sp_function_tree_cut(&tree, 2, SP_FLAME_OTHER));
  CHECK_EQUAL(4, tree.calls.node_count);
  CHECK_TEXT(name_of(&tree, 1), SP_FLAME_OTHER);
  CHECK_TEXT(name_of(&tree, 2), "freed");
  CHECK_TEXT(name_of(&tree, 3), "free");
  sp_function_tree_dispose(&tree);
}

static void a_tree_without_stacks_is_a_root(void) {
  static const int64_t expected[] = {0, 0, 0, 0};
  sp_function_tree tree;
  sp_flame_graph graph;

  CHECK(!sp_function_tree_init(&tree, &sp_mem_default, 1, false));
  CHECK(!sp_flame_graph_make(&graph, &tree));
  check_values(&graph, expected, 4);
  CHECK_EQUAL(1, graph.name_count);
  sp_flame_graph_dispose(&graph);
  sp_function_tree_dispose(&tree);
}

/* In a flame graph, a function "total" has the name of the root, and a function
 * "other" comes last. In a comparison, they are like all other functions. */
static void functions_may_be_called_total_and_other(void) {
  static const char *const names[] = {"main", "total", "b", "other"};
  fixture f;
  sp_function_tree tree;
  sp_flame_graph graph;

  fixture_make(&f, names);
  tree_make(&tree, &f, 1, 100);
  CHECK(!sp_flame_graph_make(&graph, &tree));
  CHECK_EQUAL(4, graph.name_count); /* "total", "main", "other", "b" */
  CHECK_TEXT(graph.names[2], "other");
  CHECK_EQUAL(0, graph.values[graph.row_starts[2] + 3]); /* "total" comes
                                                          * first */
  CHECK_EQUAL(2, graph.values[graph.row_starts[2] + 7]);
  sp_flame_graph_dispose(&graph);
  sp_function_tree_dispose(&tree);
  tree_make(&tree, &f, 2, 100);
  CHECK(!sp_flame_graph_make(&graph, &tree));
  CHECK_EQUAL(5, graph.name_count);
  sp_flame_graph_dispose(&graph);
  sp_function_tree_dispose(&tree);
}

/* A cut does not change the total, even if a function is called "other". */
static void a_cut_keeps_the_total(void) {
  static const char *const with_other[] = {"main", "a", "other", "c"};
  const char *const *const all[] = {plain_names, with_other};
  size_t i, nodes_max;

  for (i = 0; i < 2; i++) {
    for (nodes_max = 1; nodes_max < 7; nodes_max++) {
      fixture f;
      sp_function_tree tree;
      sp_flame_graph graph;

      fixture_make(&f, all[i]);
      tree_make(&tree, &f, 1, nodes_max);
      CHECK(!sp_flame_graph_make(&graph, &tree));
      CHECK_EQUAL(22, graph.total);
      CHECK(nodes_max >= 4 || tree.calls.node_count < 6 || i == 1);
      sp_flame_graph_dispose(&graph);
      sp_function_tree_dispose(&tree);
    }
  }
}

static void cut_nodes_become_one_other(void) {
  static const int64_t expected[] = {0, 22, 0, 0, 0, 22, 0, 1,  0,  15,
                                     5, 3,  0, 7, 7, 2,  5, 10, 10, 4};
  fixture f;
  sp_function_tree tree;
  sp_flame_graph graph;

  fixture_make(&f, plain_names);
  tree_make(&tree, &f, 1, 3); /* keeps main with 22, a with 15 and b with 10,
                               * but not c with 7 */
  CHECK(!sp_flame_graph_make(&graph, &tree));
  check_values(&graph, expected, SP_COUNT_OF(expected));
  CHECK_TEXT(graph.names[2], "other");
  sp_flame_graph_dispose(&graph);
  sp_function_tree_dispose(&tree);
}

/* In a flame graph, the value of an unnamed location belongs to its caller. A
 * call graph leaves out stacks with an unnamed location. */
static void an_unnamed_location_belongs_to_its_caller(void) {
  fixture f;
  sp_function_tree tree;
  sp_buffer text;

  fixture_make(&f, plain_names);
  f.locations[B] = (sp_tree_location){.address = 0x10};
  tree_make(&tree, &f, 1, 100);
  sp_buffer_init(&text, &sp_mem_default);
  CHECK(!sp_tree_folded(&text, &tree));
  CHECK_TEXT(text.data, "main;a 15\nmain;c;a 7\n");
  sp_buffer_clear(&text);
  CHECK(!sp_dot_graph(&text, &f.stacks, "cpu", "nanoseconds", 0, 80));
  CHECK(strstr(text.data, "of 12ns (100%)"));
  sp_buffer_dispose(&text);
  sp_function_tree_dispose(&tree);
}

static void tree_bytes_have_the_last_child_first(void) {
  static const char expected[] = "\0\0\1\4main\0\2\1c\0\1\1a\7\0\1a\5\1\1b\n";
  fixture f;
  sp_function_tree tree;
  sp_buffer bytes;

  fixture_make(&f, plain_names);
  tree_make(&tree, &f, 1, 100);
  sp_buffer_init(&bytes, &sp_mem_default);
  CHECK(!sp_tree_bytes(&bytes, &tree));
  CHECK_EQUAL(bytes.size, sizeof expected);
  CHECK(memcmp(bytes.data, expected, sizeof expected) == 0);
  sp_buffer_dispose(&bytes);
  sp_function_tree_dispose(&tree);
}

static void a_call_graph_counts_a_stack_once_per_node(void) {
  fixture f;
  sp_buffer text;

  fixture_make(&f, plain_names);
  f.nodes[5].location = MAIN; /* main;c;main */
  sp_buffer_init(&text, &sp_mem_default);
  CHECK(!sp_dot_graph(&text, &f.stacks, "samples", "count", 0, 80));
  CHECK(
      strstr(text.data, "label=\"main\\nx.c:7\\n7 (31.82%)\\nof 22 (100%)\""));
  CHECK(strstr(text.data, "label=\" 10\""));
  sp_buffer_clear(&text);
  f.stacks.node_count = 1;
  CHECK(!sp_dot_graph(&text, &f.stacks, "samples", "count", 0, 80));
  CHECK_EQUAL(0, text.size);
  sp_buffer_dispose(&text);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_flame_graph_has_the_numbers_and_names_of_pyroscope",
       a_flame_graph_has_the_numbers_and_names_of_pyroscope},
      {"a_comparison_has_both_sides", a_comparison_has_both_sides},
      {"a_cut_keeps_the_requested_number_of_nodes",
       a_cut_keeps_the_requested_number_of_nodes},
      {"a_cut_weighs_negative_values_by_their_size",
       a_cut_weighs_negative_values_by_their_size},
      {"a_tree_without_stacks_is_a_root", a_tree_without_stacks_is_a_root},
      {"functions_may_be_called_total_and_other",
       functions_may_be_called_total_and_other},
      {"a_cut_keeps_the_total", a_cut_keeps_the_total},
      {"cut_nodes_become_one_other", cut_nodes_become_one_other},
      {"an_unnamed_location_belongs_to_its_caller",
       an_unnamed_location_belongs_to_its_caller},
      {"tree_bytes_have_the_last_child_first",
       tree_bytes_have_the_last_child_first},
      {"a_call_graph_counts_a_stack_once_per_node",
       a_call_graph_counts_a_stack_once_per_node},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
