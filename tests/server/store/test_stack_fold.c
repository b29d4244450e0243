/* Tests that a tree of more stacks than fit in memory has exact totals, and
 * exact values of its nodes. */
#include "store_fixture.h"

#include <server/store/select/stack_fold.h>
#include <server/store/store_inside.h>
#include <stdlib.h>

#define STACKS 400

static const sp_trace_id no_trace = {0, 0};

static const sp_stack_fold_limits small_limits = {.kept_nodes = 40,
                                                  .nodes = 160,
                                                  .stacks = 64,
                                                  .part_stacks = 16,
                                                  .part_frames = 50,
                                                  .stack_frames = 1000};

/* Store stacks with random functions. Most have one sample; "main;hot;loop" has
 * 500 in each profile, and "main;warm" has 40. */
static void put_stacks(sp_store *store) {
  uint32_t random = 1, i, j;
  char frames[200];

  for (i = 0; i < 5; i++) {
    sp_received *profile =
        fixture_profile(i % 2 ? "shop" : "cart", FIXTURE_TIME + i);

    for (j = 0; j < STACKS; j++) {
      const unsigned a = (random = random * 1103515245 + 12345) / 65536 % 7;
      const unsigned b = (random = random * 1103515245 + 12345) / 65536 % 90;

      snprintf(frames, sizeof frames, "main;a%u;b%u;c%u;d%u", a, b, j, i);
      fixture_sample(profile, frames, NULL, j % 3 ? j : 0, no_trace, 1);
    }
    fixture_sample(profile, "main;hot;loop", NULL, 1000 + i, no_trace, 500);
    fixture_sample(profile, "main;warm", NULL, 0, no_trace, 40);
    fixture_put(store, profile);
  }
}

static const char *name_of(const sp_stack_tree *tree, size_t node) {
  const sp_tree_location *location =
      &tree->locations[tree->nodes[node].location];

  return node ? tree->functions[location->lines[0].function].name : "";
}

static sp_stack_tree *fold(sp_store *store, const sp_selector *selector,
                           sp_sample_sums *samples,
                           const sp_stack_fold_limits *limits) {
  sp_stack_tree *tree = calloc(1, sizeof *tree);
  sp_store_reader *reader;

  CHECK(tree != NULL);
  sp_arena_init(&tree->arena, &sp_mem_default, 64 << 20);
  CHECK(!sp_store_reader_acquire(store, &reader));
  CHECK(!sp_stack_fold(store, reader->db, selector, limits, samples, tree));
  sp_store_reader_release(store, reader);
  return tree;
}

/* Returns the sum of the self times of the nodes with this name, or of all
 * nodes. */
static int64_t self_of(const sp_stack_tree *tree, const char *name) {
  int64_t sum = 0;
  size_t i;

  for (i = 0; i < tree->node_count; i++)
    if (!name || strcmp(name, name_of(tree, i)) == 0)
      sum += tree->nodes[i].self;
  return sum;
}

static void folded_stacks_have_exact_sums(void) {
  sp_selector selector = fixture_all();
  sp_stack_tree *tree;
  sp_store *store;
  size_t i;

  fixture_begin();
  store = fixture_open();
  put_stacks(store);
  tree = fold(store, &selector, NULL, &small_limits);
  CHECK_EQUAL(5 * (STACKS + 540), self_of(tree, NULL));
  CHECK_EQUAL(2500, self_of(tree, "loop"));
  CHECK_EQUAL(200, self_of(tree, "warm"));
  CHECK(self_of(tree, SP_TREE_OTHER) > 4 * STACKS);
  CHECK(tree->folded_count > STACKS);
  CHECK_EQUAL(5, tree->profile_count);
  CHECK(tree->node_count <= 2 * (small_limits.kept_nodes + 1));
  for (i = 1; i < tree->node_count; i++)
    CHECK(tree->nodes[i].parent < i);
  sp_stack_tree_free(tree);
  sp_store_close(store);
  fixture_end();
}

/* The total of a function that the tree has is the same as in the whole tree.
 */
static void chosen_nodes_are_exact(void) {
  sp_selector selector = fixture_all();
  sp_stack_tree *trees[2];
  int64_t *totals[2];
  sp_store *store;
  char name[8];
  size_t i, k;

  fixture_begin();
  store = fixture_open();
  put_stacks(store);
  trees[0] = fold(store, &selector, NULL, &small_limits);
  CHECK(!sp_store_stacks(store, &selector, &trees[1]));
  CHECK_EQUAL(0, trees[1]->folded_count);
  for (k = 0; k < 2; k++) {
    totals[k] = calloc(trees[k]->node_count, sizeof *totals[k]);
    for (i = trees[k]->node_count; i-- > 0;) {
      totals[k][i] += trees[k]->nodes[i].self;
      if (i)
        totals[k][trees[k]->nodes[i].parent] += totals[k][i];
    }
  }
  CHECK_EQUAL(totals[1][0], totals[0][0]);
  for (k = 0; k < 7; k++) {
    int64_t sums[2] = {0, 0};

    snprintf(name, sizeof name, "a%zu", k);
    for (i = 0; i < trees[0]->node_count; i++)
      sums[0] += strcmp(name_of(trees[0], i), name) == 0 ? totals[0][i] : 0;
    for (i = 0; i < trees[1]->node_count; i++)
      sums[1] += strcmp(name_of(trees[1], i), name) == 0 ? totals[1][i] : 0;
    CHECK(sums[1] > 100);
    CHECK_EQUAL(sums[1], sums[0]);
  }
  for (k = 0; k < 2; k++) {
    free(totals[k]);
    sp_stack_tree_free(trees[k]);
  }
  sp_store_close(store);
  fixture_end();
}

/* Locations that differ only in their lines are one frame if lines are merged.
 */
static void lines_of_a_function_are_merged(void) {
  sp_selector selector = fixture_all();
  const int64_t value = 1;
  sp_received *profile;
  sp_stack_tree *tree;
  sp_store *store;
  int64_t i, kept;

  fixture_begin();
  store = fixture_open();
  profile = fixture_profile("shop", FIXTURE_TIME);
  for (i = 0; i < 300; i++) {
    const sp_received_line line = {.function = sp_received_add_function(
                                       profile, fixture_text(profile, "many"),
                                       fixture_text(profile, "a.rb"), i),
                                   .line = i + 1};
    const uint32_t place = sp_received_add_location(profile, &line, 1, 0);

    sp_received_add_sample(profile,
                           &(sp_received_sample){.stack = sp_received_add_stack(
                                                     profile, &place, 1)},
                           &value);
  }
  fixture_put(store, profile);
  tree = fold(store, &selector, NULL, &small_limits);
  kept = self_of(tree, "many");
  CHECK_EQUAL(300, kept + self_of(tree, SP_TREE_OTHER));
  CHECK(kept < 300);
  sp_stack_tree_free(tree);
  selector.merges_lines = true;
  tree = fold(store, &selector, NULL, &small_limits);
  CHECK_EQUAL(300, self_of(tree, "many"));
  CHECK_EQUAL(2, tree->node_count);
  sp_stack_tree_free(tree);
  sp_store_close(store);
  fixture_end();
}

/* Each separate sample of a folded stack belongs to a node of the tree. */
static void samples_are_placed_in_the_tree(void) {
  sp_stack_fold_limits limits = small_limits;
  sp_sample_sums samples = {.mem = &sp_mem_default};
  sp_selector selector = fixture_all();
  int64_t sum = 0, loops = 0, others = 0;
  sp_stack_tree *tree;
  sp_store *store;
  size_t i;

  fixture_begin();
  store = fixture_open();
  put_stacks(store);
  limits.stacks = 10000;
  selector.other = "rest";
  tree = fold(store, &selector, &samples, &limits);
  for (i = 0; i < tree->sample_count; i++) {
    const sp_tree_sample *sample = &tree->samples[i];
    const char *name = name_of(tree, sample->node);

    CHECK(sample->node < tree->node_count);
    sum += sample->value;
    others += strcmp(name, "rest") == 0 ? sample->value : 0;
    loops += sample->span_id >= 1000 && strcmp(name, "loop") == 0;
  }
  CHECK_EQUAL(5 * (STACKS + 540), sum);
  CHECK_EQUAL(5, loops);
  CHECK_EQUAL(self_of(tree, "rest"), others);
  CHECK(others > 0);
  sp_sample_sums_dispose(&samples);
  sp_stack_tree_free(tree);
  sp_store_close(store);
  fixture_end();
}

/* sp_store_stacks() folds stacks that are too many for one tree. */
static void a_query_of_too_many_stacks_is_answered(void) {
  sp_selector selector = fixture_all();
  sp_received *profile;
  sp_stack_tree *tree;
  sp_store *store;

  fixture_begin();
  store = fixture_open();
  profile = fixture_profile("shop", FIXTURE_TIME);
  fixture_deep_stacks(profile, 1000, 2700);
  fixture_sample(profile, "main;hot", NULL, 0, no_trace, 1000);
  fixture_put(store, profile);
  CHECK(!sp_store_stacks(store, &selector, &tree));
  CHECK(tree->folded_count > 0);
  CHECK(tree->node_count < 1000000);
  CHECK_EQUAL(3700, self_of(tree, NULL));
  CHECK_EQUAL(1000, self_of(tree, "hot"));
  CHECK(tree->is_counted);
  sp_stack_tree_free(tree);
  sp_store_close(store);
  fixture_end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"folded_stacks_have_exact_sums", folded_stacks_have_exact_sums},
      {"chosen_nodes_are_exact", chosen_nodes_are_exact},
      {"lines_of_a_function_are_merged", lines_of_a_function_are_merged},
      {"samples_are_placed_in_the_tree", samples_are_placed_in_the_tree},
      {"a_query_of_too_many_stacks_is_answered",
       a_query_of_too_many_stacks_is_answered},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
