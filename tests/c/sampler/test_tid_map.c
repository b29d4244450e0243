#include "sampler/tid_map.h"

#include "check.h"
#include "failing_mem.h"

static void what_was_set_is_found_until_removed(void) {
  sp_tid_map map = {.mem = &sp_mem_default};
  int tid;

  CHECK_EQUAL(sp_tid_map_get(&map, 7), 0);
  sp_tid_map_remove(&map, 7);
  for (tid = 1; tid <= 5000; tid++)
    CHECK_EQUAL(sp_tid_map_set(&map, tid * 3, (uint32_t)tid), SPANPROF_OK);
  for (tid = 1; tid <= 5000; tid += 2)
    sp_tid_map_remove(&map, tid * 3);
  for (tid = 1; tid <= 5000; tid++)
    CHECK_EQUAL(sp_tid_map_get(&map, tid * 3), tid % 2 ? 0 : tid);
  CHECK_EQUAL(map.count, 2500);
  sp_tid_map_dispose(&map);
}

static void a_second_set_replaces(void) {
  sp_tid_map map = {.mem = &sp_mem_default};

  CHECK_EQUAL(sp_tid_map_set(&map, 42, 1), SPANPROF_OK);
  CHECK_EQUAL(sp_tid_map_set(&map, 42, 2), SPANPROF_OK);
  CHECK_EQUAL(sp_tid_map_get(&map, 42), 2);
  CHECK_EQUAL(map.count, 1);
  sp_tid_map_dispose(&map);
}

/* Threads come and go: whatever the order, the map says what a plain array
 * says. */
static void it_agrees_with_an_array_through_churn(void) {
  static uint32_t expected[1024];
  sp_tid_map map = {.mem = &sp_mem_default};
  uint32_t random = 12345, step;
  int tid;

  for (step = 1; step < 200000; step++) {
    random = random * 1664525 + 1013904223;
    tid = 1 + (int)(random >> 8) % 1023;
    if (random & 1) {
      CHECK_EQUAL(sp_tid_map_set(&map, tid, step), SPANPROF_OK);
      expected[tid] = step;
    } else {
      sp_tid_map_remove(&map, tid);
      expected[tid] = 0;
    }
  }
  for (tid = 1; tid < 1024; tid++)
    CHECK_EQUAL(sp_tid_map_get(&map, tid), expected[tid]);
  sp_tid_map_dispose(&map);
}

static void without_memory_it_says_so(const sp_mem *mem) {
  sp_tid_map map = {.mem = mem};
  uint32_t tid, set = 0;

  for (tid = 1; tid <= 200; tid++)
    set += !sp_tid_map_set(&map, (int)tid, tid);
  CHECK_EQUAL(map.count, set);
  for (tid = 1; tid <= 200; tid++)
    CHECK(sp_tid_map_get(&map, (int)tid) == 0 ||
          sp_tid_map_get(&map, (int)tid) == tid);
  sp_tid_map_dispose(&map);
}

static void without_memory_it_stays_as_it_was(void) {
  failing_mem_sweep(without_memory_it_says_so);
}

static const check_test tests[] = {
    {"without_memory_it_stays_as_it_was", without_memory_it_stays_as_it_was},
    {"what_was_set_is_found_until_removed",
     what_was_set_is_found_until_removed},
    {"a_second_set_replaces", a_second_set_replaces},
    {"it_agrees_with_an_array_through_churn",
     it_agrees_with_an_array_through_churn},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
