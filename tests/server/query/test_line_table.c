/* Tests that the values of a function by line are exact, also with recursion
 * and inlined calls. */
#include "failing_mem.h"

#include <server/query/tree/line_table.h>
#include <stdlib.h>
#include <string.h>

#define LINE_FUNCTIONS 4
#define LINE_LOCATIONS 24
#define LINE_NODES     400
#define LINE_MAX       6 /* lines of each function are below */

/* Functions 0 and 1 have the same name and file, and 2 has only the same
 * name. */
static sp_tree_function line_functions[LINE_FUNCTIONS] = {{"work", "a.rb", 9},
                                                          {"work", "a.rb", 4},
                                                          {"work", "b.rb", 1},
                                                          {"main", "a.rb", 1}};

typedef struct made_lines {
  sp_tree_line lines[LINE_LOCATIONS][3];
  sp_tree_location locations[LINE_LOCATIONS];
  sp_tree_node nodes[LINE_NODES];
  sp_stack_tree tree;
} made_lines;

/* Make a random tree. A location has up to three lines, or none. */
static void lines_make(made_lines *made, unsigned seed) {
  size_t i;
  uint32_t line;

  memset(made, 0, sizeof *made);
  for (i = 0; i < LINE_LOCATIONS; i++) {
    made->locations[i] = (sp_tree_location){
        .lines = made->lines[i], .line_count = (uint32_t)rand_r(&seed) % 4};
    for (line = 0; line < 3; line++)
      made->lines[i][line] =
          (sp_tree_line){.function = (uint32_t)rand_r(&seed) % LINE_FUNCTIONS,
                         .line = rand_r(&seed) % LINE_MAX};
  }
  for (i = 1; i < LINE_NODES; i++)
    made->nodes[i] = (sp_tree_node){
        .parent = (uint32_t)(i - 1 - (size_t)rand_r(&seed) % (i < 5 ? i : 5)),
        .location = (uint32_t)rand_r(&seed) % LINE_LOCATIONS,
        .self = rand_r(&seed) % 10};
  made->tree = (sp_stack_tree){.functions = line_functions,
                               .locations = made->locations,
                               .nodes = made->nodes,
                               .function_count = LINE_FUNCTIONS,
                               .location_count = LINE_LOCATIONS,
                               .node_count = LINE_NODES};
}

/* Sum the samples of each node one by one. sums[line] gets the values of a
 * line, and sums[LINE_MAX] those of the function. */
static void lines_by_hand(const made_lines *made, bool (*wanted)(uint32_t),
                          sp_line_row sums[LINE_MAX + 1]) {
  size_t i, node;
  uint32_t line;

  memset(sums, 0, (LINE_MAX + 1) * sizeof *sums);
  for (i = 1; i < LINE_NODES; i++) {
    const int64_t self = made->nodes[i].self;
    bool seen[LINE_MAX + 1] = {false}, is_leaf = true;

    for (node = i; node != 0; node = made->nodes[node].parent) {
      const sp_tree_location *at = &made->locations[made->nodes[node].location];

      for (line = 0; line < at->line_count; line++) {
        if (wanted(at->lines[line].function)) {
          seen[at->lines[line].line] = seen[LINE_MAX] = true;
          sums[at->lines[line].line].self += is_leaf ? self : 0;
          sums[LINE_MAX].self += is_leaf ? self : 0;
        }
        is_leaf = false;
      }
    }
    for (line = 0; line <= LINE_MAX; line++)
      sums[line].total += seen[line] ? self : 0;
  }
}

static bool is_work(uint32_t function) {
  return function < 3;
}

static bool is_work_in_a(uint32_t function) {
  return function < 2;
}

static void check_lines(const made_lines *made, const char *file,
                        bool (*wanted)(uint32_t), int64_t start_line) {
  sp_line_row sums[LINE_MAX + 1];
  sp_line_table table;
  int64_t all = 0, self = 0;
  size_t i;

  lines_by_hand(made, wanted, sums);
  CHECK(
      !sp_line_table_make(&table, &sp_mem_default, &made->tree, "work", file));
  for (i = 1; i < LINE_NODES; i++)
    all += made->nodes[i].self;
  CHECK_EQUAL(table.all, all);
  CHECK_EQUAL(table.self, sums[LINE_MAX].self);
  CHECK_EQUAL(table.total, sums[LINE_MAX].total);
  CHECK_EQUAL(table.start_line, start_line);
  for (i = 0; i < table.count; i++) {
    CHECK(i == 0 || table.rows[i - 1].line < table.rows[i].line);
    CHECK_EQUAL(table.rows[i].self, sums[table.rows[i].line].self);
    CHECK_EQUAL(table.rows[i].total, sums[table.rows[i].line].total);
    self += table.rows[i].self;
    sums[table.rows[i].line].total = 0;
  }
  CHECK_EQUAL(self, table.self);
  for (i = 0; i < LINE_MAX; i++)
    CHECK_EQUAL(sums[i].total, 0); /* no line is missing */
  sp_line_table_dispose(&table);
}

static void values_are_those_of_the_samples(void) {
  static made_lines made;
  unsigned seed;

  for (seed = 1; seed <= 50; seed++) {
    lines_make(&made, seed);
    check_lines(&made, "a.rb", is_work_in_a, 4);
    check_lines(&made, NULL, is_work, 1);
  }
}

static void an_unknown_function_has_no_lines(void) {
  static made_lines made;
  sp_line_table table;

  lines_make(&made, 1);
  CHECK(!sp_line_table_make(&table, &sp_mem_default, &made.tree, "work", ""));
  CHECK_EQUAL(table.count, 0);
  CHECK_EQUAL(table.total, 0);
  sp_line_table_dispose(&table);
}

static void lines_scenario(const sp_mem *mem) {
  static made_lines made;
  sp_line_table table;
  spanprof_status st;

  lines_make(&made, 1);
  st = sp_line_table_make(&table, mem, &made.tree, "work", NULL);
  CHECK(st == SPANPROF_ERR_NOMEM || (!st && table.count > 0));
  sp_line_table_dispose(&table);
}

static void running_out_of_memory_returns_an_error(void) {
  failing_mem_sweep(lines_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"values_are_those_of_the_samples", values_are_those_of_the_samples},
      {"an_unknown_function_has_no_lines", an_unknown_function_has_no_lines},
      {"running_out_of_memory_returns_an_error",
       running_out_of_memory_returns_an_error},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
