/* The table of stacks in the file, in which a row has a run of frames. */
#include "store_fixture.h"

#include <server/store/tables/stack_run.h>

static const sp_trace_id no_trace = {0, 0};

static void put(sp_store *store, int64_t time_ns, const char *frames,
                int64_t value) {
  sp_received *profile = fixture_profile("shop", time_ns);

  fixture_sample(profile, frames, NULL, 0, no_trace, value);
  fixture_put(store, profile);
}

static sp_store *reopen(sp_store *store) {
  sp_store_close(store);
  return fixture_open();
}

/* Write the names from the root to `node`, outermost first, into `out`. */
static void path_of(const sp_stack_tree *tree, size_t node, char *out) {
  const char *name =
      tree->functions
          [tree->locations[tree->nodes[node].location].lines[0].function]
              .name;

  if (tree->nodes[node].parent) {
    path_of(tree, tree->nodes[node].parent, out);
    strcat(out, ";");
  }
  strcat(out, name);
}

/* Return the value of exactly this stack. */
static int64_t value_of(sp_store *store, const char *frames) {
  const sp_selector selector = fixture_all();
  sp_stack_tree *tree;
  int64_t value = 0;
  char path[512];
  size_t i;

  CHECK(!sp_store_stacks(store, &selector, &tree));
  for (i = 1; i < tree->node_count; i++) {
    path[0] = '\0';
    path_of(tree, i, path);
    if (strcmp(path, frames) == 0)
      value += tree->nodes[i].self;
  }
  sp_stack_tree_free(tree);
  return value;
}

static void stacks_share_the_frames_of_a_run(void) {
  sp_store *store;
  int round;

  fixture_begin();
  store = fixture_open();
  for (round = 0; round < 3; round++) {
    const int64_t time_ns = FIXTURE_TIME + round * FIXTURE_SECOND;

    put(store, time_ns, "a;b;c;d;e", 1);          /* one run */
    put(store, time_ns + 1, "a;b;c", 10);         /* ends within this run */
    put(store, time_ns + 2, "a;b;x;y", 100);      /* branches off this run */
    put(store, time_ns + 3, "a;b;c;d;e;f", 1000); /* continues after this run */
    put(store, time_ns + 4, "a;b;x;z", 10000);
    put(store, time_ns + 5, "b;c", 100000); /* has another root */
    CHECK_EQUAL(11, fixture_number(FIXTURE_FRAMES));
    /* Open the store again, so that its cache is empty in the next round. */
    store = reopen(store);
  }
  CHECK_EQUAL(5, fixture_number("SELECT count(*) FROM stack"));
  CHECK_EQUAL(3, value_of(store, "a;b;c;d;e"));
  CHECK_EQUAL(30, value_of(store, "a;b;c"));
  CHECK_EQUAL(300, value_of(store, "a;b;x;y"));
  CHECK_EQUAL(3000, value_of(store, "a;b;c;d;e;f"));
  CHECK_EQUAL(30000, value_of(store, "a;b;x;z"));
  CHECK_EQUAL(300000, value_of(store, "b;c"));
  sp_store_close(store);
  fixture_end();
}

static void unused_frames_of_a_run_are_deleted(void) {
  sp_store *store;

  fixture_begin();
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  store = fixture_open();
  put(store, FIXTURE_TIME, "a;b;c;d;e", 1); /* older than the retention */
  put(store, FIXTURE_TIME + 1, "p;q", 1);
  put(store, (int64_t)sp_clock_unix_ns(sp_clock_system()), "a;b;x", 5);
  CHECK_EQUAL(8, fixture_number(FIXTURE_FRAMES));
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_collect(store));
  CHECK_EQUAL(3, fixture_number(FIXTURE_FRAMES));
  CHECK_EQUAL(3, fixture_number("SELECT count(*) FROM location"));
  put(store, (int64_t)sp_clock_unix_ns(sp_clock_system()), "a;b;c;d;e", 7);
  store = reopen(store);
  CHECK_EQUAL(5, value_of(store, "a;b;x"));
  CHECK_EQUAL(7, value_of(store, "a;b;c;d;e"));
  sp_store_close(store);
  fixture_end();
}

/* A frame needs less than 2.5 bytes. With a row for each frame, it needed 27
 * bytes in the table and its index. */
static void a_frame_of_a_deep_stack_needs_few_bytes(void) {
  sp_received *profile = fixture_profile("shop", FIXTURE_TIME);
  sp_store *store;

  fixture_deep_stacks(profile, 1000, 200);
  fixture_begin();
  store = fixture_open();
  fixture_put(store, profile);
  sp_store_close(store);
  CHECK(fixture_number("SELECT count(*) FROM stack") < 200 * 1000 / 30);
  CHECK(fixture_number("SELECT pgsize FROM dbstat WHERE name='stack' AND "
                       "aggregate=1") < 200 * 1000 * 5 / 2);
  fixture_end();
}

/* The new ids are beyond 32 bits, as in a store that has given out many ids. */
static void ids_beyond_32_bits_are_valid(void) {
  int64_t now_ns;
  sp_store *store;

  fixture_begin();
  fixture_retention_ns = 3600 * SP_NS_PER_S;
  store = fixture_open();
  sp_store_close(store);
  fixture_run("INSERT INTO text VALUES(5000000000, 'x');"
              "INSERT INTO function VALUES(6000000000, 1, 1, 77);"
              "INSERT INTO location VALUES(7000000000, x'00');"
              "INSERT INTO stack VALUES(8000000000, 0, 1, NULL)");
  store = fixture_open();
  now_ns = (int64_t)sp_clock_unix_ns(sp_clock_system());
  put(store, now_ns, "a;b;c", 1);
  put(store, now_ns + 1, "a;b;x", 10);
  put(store, FIXTURE_TIME, "a;gone", 100);
  CHECK(!sp_store_compact(store));
  CHECK(!sp_store_drop_old(store));
  CHECK(!sp_store_collect(store));
  CHECK(fixture_number("SELECT min(id) FROM stack") > 8000000000);
  CHECK_EQUAL(2, fixture_number("SELECT count(*) FROM stack"));
  CHECK_EQUAL(4, fixture_number("SELECT count(*) FROM location"));
  store = reopen(store);
  CHECK_EQUAL(1, value_of(store, "a;b;c"));
  CHECK_EQUAL(10, value_of(store, "a;b;x"));
  sp_store_close(store);
  fixture_end();
}

static void a_damaged_run_is_refused(void) {
  const sp_selector selector = fixture_all();
  static const char *const damages[] = {
      "UPDATE stack SET more=x'ff' WHERE more IS NOT NULL",
      "UPDATE stack SET more=zeroblob(1000) WHERE more IS NOT NULL",
      "UPDATE stack SET more=NULL", "UPDATE stack SET parent=id"};
  sp_stack_tree *tree;
  sp_store *store;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(damages); i++) {
    fixture_begin();
    store = fixture_open();
    put(store, FIXTURE_TIME, "a;b;c", 1);
    fixture_run(damages[i]);
    CHECK_EQUAL(SPANPROF_ERR_FORMAT, sp_store_stacks(store, &selector, &tree));
    sp_store_close(store);
    fixture_end();
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"stacks_share_the_frames_of_a_run", stacks_share_the_frames_of_a_run},
      {"unused_frames_of_a_run_are_deleted",
       unused_frames_of_a_run_are_deleted},
      {"a_frame_of_a_deep_stack_needs_few_bytes",
       a_frame_of_a_deep_stack_needs_few_bytes},
      {"ids_beyond_32_bits_are_valid", ids_beyond_32_bits_are_valid},
      {"a_damaged_run_is_refused", a_damaged_run_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
